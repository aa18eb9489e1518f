"use strict";

function count(value) {
  if (value >= 1e6) return (value / 1e6).toFixed(value < 1e7 ? 1 : 0) + " M";
  if (value >= 10000) return (value / 1000).toFixed(0) + " k";
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(2)));
}

function time(seconds) {
  if (seconds === null) return "–";
  if (seconds === 0) return "0";
  if (seconds < 0.001) return Number((seconds * 1e6).toPrecision(2)) + " µs";
  if (seconds < 1) return Number((seconds * 1000).toPrecision(seconds < 0.1 ? 2 : 3)) + " ms";
  return Number(seconds.toPrecision(3)) + " s";
}

function bytes(value) {
  return value >= 1 << 30 ? (value / (1 << 30)).toFixed(2) + " GiB" : (value / (1 << 20)).toFixed(0) + " MiB";
}

function uptime(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).map(([size, name], index) =>
    Math.floor(index ? (seconds % parts[first][0]) / size : seconds / size) + " " + name).join(" ");
}

const plots = [
  new Plot("plot-traffic", "Requests a second", [
    { name: "answered", color: "blue", fills: true, of: (point) => point.requests },
    { name: "failed (5xx)", color: "red", of: (point) => point.failures },
  ], count),
  new Plot("plot-latency", "Time to answer", [
    { name: "p99", color: "orange", of: (point) => point.p99 },
    { name: "p50", color: "blue", of: (point) => point.p50 },
  ], time, powerLines, Math.log10),
  new Plot("plot-denials", "Denials a second", [
    { name: "denied", color: "violet", fills: true, of: (point) => point.denials },
  ], count),
  new Plot("plot-database", "Database connections", [
    { name: "in use", color: "green", fills: true, of: (point) => point.leased },
    { name: "waiting", color: "red", of: (point) => point.waiting },
  ], count, wholeLines),
];

function tile(label, value) {
  const [number, ...unit] = String(value).split(" ");
  return make("div", { class: "card tile" }, make("div", { class: "label" }, label),
    make("div", { class: "value" }, number, unit.length ? make("span", { class: "unit" }, unit.join(" ")) : ""));
}

function fill(id, ...content) {
  document.getElementById(id).replaceChildren(...content);
}

/** Rows of cells under headings; a heading that begins with # is of numbers, one with ? is left out on phones. */
function table(headings, rows, empty) {
  if (!rows.length) return make("p", { class: "empty" }, empty);
  const classes = headings.map((one) => [one.includes("#") ? "number" : "", one.includes("?") ? "optional" : ""].join(" ").trim());
  const names = headings.map((one) => one.replace(/[#?]/g, ""));
  const row = (cells, tag) => make("tr", {}, cells.map((cell, index) => make(tag, { class: classes[index] || null }, cell)));
  return make("div", { class: "scroll" }, make("table", {},
    names.some(Boolean) ? make("thead", {}, row(names, "th")) : "",
    make("tbody", {}, rows.map((cells) => row(cells, "td")))));
}

function where(one) {
  const path = one.route === "none" ? "unknown paths" : one.route;
  if (!one.operation) return make("code", {}, path);
  return [make("b", { class: "operation" }, one.operation), make("code", { class: "muted optional" }, path)];
}

function facts(rows) {
  return table(["", "#"], rows, "");
}

function show(status) {
  const last = status.points.at(-1) || {};
  const now = (name) => (last[name] === undefined ? null : last[name]);
  const ready = document.getElementById("ready");
  ready.textContent = status.faults.length ? "not ready" : "ready";
  ready.className = "pill " + (status.faults.length ? "poor" : "good");
  notice(status.faults.map((one) => one.part + ": " + one.reason).join("; "));
  fill("about", "version " + status.version + " · up " + uptime(status.uptime));
  fill("tiles",
    tile("Requests", now("requests") === null ? "–" : count(last.requests) + " /s"),
    tile("p50", time(now("p50"))),
    tile("p99", time(now("p99"))),
    tile("Denials", now("denials") === null ? "–" : count(last.denials) + " /s"),
    tile("In flight", count(status.inFlight)),
    tile("Processor", now("processor") === null ? "–" : Math.round(last.processor * 100) + " %"),
    tile("Connections", `${count(status.pool.leased)} of ${count(status.pool.most)}`),
    tile("Memory", bytes(status.process.memory)));
  for (const plot of plots) plot.update(status.points);
  fill("routes", table(["Route", "#Requests", "#?Mean", "#p50", "#p99"],
    status.routes.map((one) => [where(one), count(one.count), time(one.mean), time(one.p50), time(one.p99)]),
    "No requests yet."));
  fill("denials", table(["Code", "Where", "#Times"],
    status.denials.map((one) => [make("code", {}, one.code), one.operation || where(one), count(one.count)]),
    "Nothing was denied."));
  const { pool, statements } = status;
  const looked = statements.hits + statements.misses;
  fill("database", facts([
    ["Connections", `${count(pool.leased)} in use, ${count(pool.idle)} idle`],
    ["Connections at most", count(pool.most)],
    ["Waiting callers", count(pool.waiting)],
    ["Connections asked for", count(pool.acquisitions)],
    ["Refused or given up", count(pool.refusals)],
    ["Prepared statements", count(statements.prepared)],
    ["Found prepared", looked ? (Math.floor((statements.hits / looked) * 1000) / 10).toFixed(1) + " %" : "–"],
  ]));
  fill("process", facts([
    ["Requests since start", count(status.requests)],
    ["Apps served", count(status.apps)],
    ["Configurations taken, refused", `${count(status.reloads)}, ${count(status.refusals)}`],
    ["Processor time", time(status.process.processor)],
    ["Threads", count(status.process.threads)],
    ["Open files", count(status.process.descriptors)],
  ]));
}

function notice(text) {
  const element = document.getElementById("notice");
  element.hidden = !text;
  element.textContent = text;
}

async function ask() {
  if (document.hidden) return;
  try {
    show(await read("/status.json"));
  } catch (error) {
    const ready = document.getElementById("ready");
    ready.textContent = "no answer";
    ready.className = "pill poor";
    notice("The server does not answer: " + error.message);
  }
}

ask();
setInterval(ask, 5000);
document.addEventListener("visibilitychange", ask);
