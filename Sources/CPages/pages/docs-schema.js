"use strict";

/** Follows `$ref` within one document. */
function resolve(contract, value) {
  const seen = new Set();
  while (value && value.$ref && !seen.has(value.$ref)) {
    seen.add(value.$ref);
    let target = contract;
    for (const step of value.$ref.replace("#/", "").split("/")) target = target ? target[step] : undefined;
    value = target;
  }
  return value || {};
}

/** A schema's type in a few words. */
function typeText(contract, schema) {
  const one = resolve(contract, schema);
  if (one.enum) return one.enum.length > 6 ? "string, one of " + one.enum.length : one.enum.map((v) => JSON.stringify(v)).join(" | ");
  if (one.oneOf) return one.oneOf.map((part) => typeText(contract, part)).join(" | ");
  const type = Array.isArray(one.type) ? one.type.join(" | ") : one.type || "any";
  if (type === "array") return one.items ? "array of " + typeText(contract, one.items) : "array";
  return one.format ? type + " (" + one.format + ")" : type;
}

/** What bounds a value, in words. */
function bounds(schema) {
  const words = [];
  if (schema.minLength === 1) words.push("not empty");
  else if (schema.minLength) words.push("at least " + schema.minLength + " characters");
  if (schema.maxLength) words.push("at most " + schema.maxLength + " characters");
  if (schema.minItems) words.push("at least " + schema.minItems);
  if (schema.maxItems) words.push("at most " + schema.maxItems);
  if (schema.minimum !== undefined) words.push("from " + schema.minimum);
  if (schema.maximum !== undefined) words.push("up to " + schema.maximum);
  if (schema.default !== undefined) words.push("default " + JSON.stringify(schema.default));
  return words.join(", ");
}

/** Rows of a table: one for each member of an object, and of the objects in it. */
function memberRows(contract, schema, depth) {
  const one = resolve(contract, schema);
  const rows = [];
  for (const [name, member] of Object.entries(one.properties || {})) {
    const inner = resolve(contract, member);
    const needed = (one.required || []).includes(name);
    const about = [inner.description, bounds(inner)].filter(Boolean).join(" — ");
    rows.push(
      make(
        "tr",
        {},
        make("td", { class: "depth" + depth }, make("span", { class: "name" }, name), needed && make("span", { class: "needed" }, "required") || ""),
        make("td", { class: "type" }, typeText(contract, inner)),
        make("td", {}, prose(about))
      )
    );
    const nested = inner.type === "array" ? resolve(contract, inner.items) : inner;
    if (depth < 3 && nested.properties) rows.push(...memberRows(contract, nested, depth + 1));
  }
  return rows;
}

/** A table of an object's members; a line for anything else. */
function schemaTable(contract, schema) {
  const rows = memberRows(contract, schema, 0);
  if (!rows.length) return make("p", {}, make("span", { class: "type" }, typeText(contract, schema)));
  return make("table", {}, make("tbody", {}, rows));
}

/** A value that fits a schema: its example where there is one. */
function sample(contract, schema, depth = 0) {
  const one = resolve(contract, schema);
  if (one.example !== undefined) return one.example;
  if (one.examples) return one.examples[0];
  if (one.default !== undefined) return one.default;
  if (one.enum) return one.enum[0];
  if (one.oneOf) return sample(contract, one.oneOf[0], depth);
  const type = Array.isArray(one.type) ? one.type[0] : one.type;
  if (type === "array") return one.items && depth < 4 ? [sample(contract, one.items, depth + 1)] : [];
  if (type === "object" || one.properties) {
    const result = {};
    for (const [name, member] of Object.entries(one.properties || {})) {
      if (depth < 4) result[name] = sample(contract, member, depth + 1);
    }
    return result;
  }
  if (type === "integer" || type === "number") return 1;
  if (type === "boolean") return true;
  return type === "string" ? "…" : null;
}
