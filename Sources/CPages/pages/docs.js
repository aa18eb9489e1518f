"use strict";

const documents = ["/openapi/data-api.json", "/openapi/client-api.json"];
const methods = ["get", "post", "put", "patch", "delete"];
/** Called when the reader names another app. */
const retitle = [];

/** The example of a media type, or a value made from its schema. */
function exampleOf(contract, media) {
  return media.example !== undefined ? media.example : sample(contract, media.schema);
}

function shellQuoted(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

/** The headers that say who calls, for one way in. */
function credentials(contract, security) {
  const headers = [];
  for (const name of Object.keys(security || {})) {
    const scheme = contract.components.securitySchemes[name];
    headers.push(scheme.type === "http" ? "Authorization: Bearer $TOKEN" : scheme.name + ": $" + scheme.name.toUpperCase());
  }
  return headers;
}

/** A line for a shell, against the server that this page came from. */
function curl(contract, operation) {
  const app = document.getElementById("app").value.trim() || "myapp-abcde";
  const path = operation.path.replace(/{(\w+)}/g, (all, name) => {
    if (name === "appId") return encodeURIComponent(app);
    const parameter = operation.parameters.find((one) => one.name === name);
    return String(sample(contract, parameter ? parameter.schema : { type: "string" }));
  });
  const parts = ["curl"];
  if (operation.method !== "get" && !(operation.method === "post" && operation.media)) parts[0] += " -X " + operation.method.toUpperCase();
  parts[0] += " " + shellQuoted(location.origin + path);
  const security = operation.security.find((one) => "apiKey" in one) || operation.security[0];
  for (const header of credentials(contract, security)) parts.push('-H "' + header + '"');
  if (operation.media) {
    parts.push("-H " + shellQuoted("Content-Type: " + operation.media));
    if (operation.accepts) parts.push("-H " + shellQuoted("Accept: application/json"));
    parts.push("-d " + shellQuoted(JSON.stringify(operation.example)));
  }
  return parts.join(" \\\n  ");
}

/** One operation with everything resolved that its card shows. */
function collect(contract) {
  const operations = [];
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const method of methods.filter((one) => item[one])) {
      const raw = item[method];
      const content = (raw.requestBody && raw.requestBody.content) || {};
      const media = Object.keys(content)[0];
      const responses = Object.entries(raw.responses).map(([status, one]) => [status, resolve(contract, one)]);
      operations.push({
        contract, path, method, media, responses,
        id: raw.operationId, summary: raw.summary, description: raw.description, tag: raw.tags[0],
        parameters: (raw.parameters || []).map((one) => resolve(contract, one)),
        body: media && content[media].schema,
        example: media && exampleOf(contract, content[media]),
        accepts: responses.some(([, one]) => one.content && one.content["application/ejson"]),
        security: raw.security || contract.security || [],
      });
    }
  }
  return operations;
}

function codeBlock(title, text) {
  const block = make("pre", {}, text);
  const button = make("button", { type: "button", click: async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  } }, "copy");
  return [make("h3", {}, make("span", {}, title), navigator.clipboard ? button : ""), block];
}

function parameterTable(operation) {
  const rows = operation.parameters.map((one) => make("tr", {},
    make("td", {}, make("span", { class: "name" }, one.name), one.required ? make("span", { class: "needed" }, "required") : ""),
    make("td", { class: "type" }, typeText(operation.contract, one.schema)),
    make("td", {}, prose(one.description || ""))));
  return rows.length ? [make("h3", {}, "In the path"), make("table", {}, make("tbody", {}, rows))] : [];
}

function responseTable(operation) {
  const rows = operation.responses.map(([status, one]) => make("tr", {},
    make("td", { class: "status " + (status < 300 ? "ok" : status < 500 ? "bad" : "broken") }, status),
    make("td", {}, prose(one.description || ""))));
  return [make("h3", {}, "Answers"), make("table", {}, make("tbody", {}, rows))];
}

function card(operation) {
  const { contract } = operation;
  const good = operation.responses.find(([status]) => status < 300);
  const content = (good && good[1].content) || {};
  const media = Object.keys(content).find((one) => one.endsWith("json"));
  const command = codeBlock("curl", curl(contract, operation));
  retitle.push(() => { command[1].textContent = curl(contract, operation); });
  const left = make("div", {},
    operation.description ? make("p", {}, prose(operation.description)) : "",
    parameterTable(operation),
    operation.body ? [make("h3", {}, "Body, ", operation.media), schemaTable(contract, operation.body)] : [],
    responseTable(operation));
  const right = make("div", { class: "side" }, command,
    operation.body ? codeBlock("Example body", JSON.stringify(operation.example, null, 2)) : [],
    media ? codeBlock("Answer " + good[0], JSON.stringify(exampleOf(contract, content[media]), null, 2)) : [],
    media && content[media].schema && resolve(contract, content[media].schema).properties
      ? [make("h3", {}, "Members of the answer"), schemaTable(contract, content[media].schema)] : []);
  return make("details", { class: "operation card", id: operation.id },
    make("summary", {},
      make("span", { class: "method " + operation.method }, operation.method.toUpperCase()),
      make("span", { class: "title" }, operation.summary),
      make("code", { class: "path" }, operation.path)),
    make("div", { class: "body" }, left, right));
}

function intro(contract) {
  const links = documents.map((path) => make("a", { href: path.replace(".json", ".yaml") }, path.split("/").pop().replace(".json", ".yaml")));
  return make("section", { class: "card intro" },
    make("h2", {}, contract.info.title),
    contract.info.description.trim().split("\n\n").map((text) => make("p", {}, prose(text.replaceAll("\n", " ")))),
    make("p", { class: "muted" }, "OpenAPI: ", links[0], " · ", links[1]));
}

function show(contracts) {
  const operations = contracts.flatMap(collect);
  const main = document.getElementById("main");
  const contents = document.getElementById("contents");
  main.replaceChildren(intro(contracts[0]));
  for (const tag of contracts.flatMap((one) => one.tags.map((each) => each.name))) {
    const inGroup = operations.filter((one) => one.tag === tag);
    const section = make("section", { class: "section" }, make("h2", { class: "group" }, tag), inGroup.map(card));
    main.append(section);
    contents.append(make("h2", {}, tag), ...inGroup.map((one) => make("a", { href: "#" + one.id, "data-for": one.id },
      make("span", { class: "method " + one.method }, one.method.toUpperCase()), one.id)));
  }
  const codes = new Set(contracts.flatMap((one) => one.components.schemas.ErrorCode.enum));
  main.append(make("section", { class: "card intro" }, make("h2", {}, "Error codes"),
    make("p", {}, prose("An error's body has `error`, a sentence for people, and `error_code`, one of these for programs:")),
    make("ul", { class: "codes" }, [...codes].sort().map((code) => make("li", {}, code)))));
  document.getElementById("app").addEventListener("input", () => retitle.forEach((one) => one()));
  document.getElementById("find").addEventListener("input", (event) => filter(operations, event.target.value));
  addEventListener("hashchange", openNamed);
  if (!openNamed()) main.querySelector("details").open = true;
}

/** Leaves what matches. */
function filter(operations, text) {
  const wanted = text.trim().toLowerCase();
  for (const one of operations) {
    const isShown = [one.id, one.summary, one.path, one.method].some((part) => part.toLowerCase().includes(wanted));
    document.getElementById(one.id).hidden = !isShown;
    document.querySelector(`[data-for="${one.id}"]`).hidden = !isShown;
  }
  for (const section of document.querySelectorAll(".section")) {
    section.hidden = !section.querySelector("details:not([hidden])");
  }
}

/** Opens the card that the address names. */
function openNamed() {
  const card = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(card instanceof HTMLDetailsElement)) return false;
  card.open = true;
  card.scrollIntoView();
  return true;
}

Promise.all(documents.map(read)).then(show, (error) => {
  document.getElementById("main").replaceChildren(make("p", { class: "card notice" }, "The contract could not be read: " + error.message));
});
