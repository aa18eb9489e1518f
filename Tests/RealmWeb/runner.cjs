// Runs the integration tests of realm-web, as they were built, against a gateway: sets what their own harness sets,
// and prints for each file how many pass, and why the others do not.
//
//   node runner.cjs BUILT BASE_URL APP_ID
//
// BUILT holds tests/*.test.js and node_modules/realm-web.
"use strict";
const path = require("path");
const Mocha = require("mocha");

const [built, baseURL, appID] = process.argv.slice(2);

// Two need a browser; services repeats files that stand here.
const files = [
  "api-key-auth", "app", "bson", "credentials", "email-password-auth", "functions", "http-service",
  "remote-mongodb-service", "user",
];

globalThis.APP_ID = appID;
globalThis.BASE_URL = baseURL;
globalThis.TEST_CREDENTIALS = ["anonymous", "email-password", "function", "jwt"];

const mocha = new Mocha({ reporter: class {}, timeout: Number(process.env.MOCHA_TIMEOUT || 10000) });
for (const file of files) mocha.addFile(path.join(built, "tests", `${file}.test.js`));

const counts = new Map(files.map((file) => [file, { passed: 0, failed: 0, pending: 0 }]));
const failures = [];
const fileOf = (test) => path.basename(test.file || "", ".test.js");

const runner = mocha.run(() => {
  console.log("\n| file | passed | failed | pending |\n|---|---|---|---|");
  const sum = { passed: 0, failed: 0, pending: 0 };
  for (const [file, count] of counts) {
    console.log(`| ${file} | ${count.passed} | ${count.failed} | ${count.pending} |`);
    for (const key of Object.keys(sum)) sum[key] += count[key];
  }
  if (failures.length > 0) console.log("\nNot passed:");
  for (const { title, reason } of failures) console.log(`- ${title}\n    ${reason}`);
  console.log(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.pending} skipped`);
  // Streams and timers of the tests may still be open.
  process.exit(0);
});
runner.on("pass", (test) => { counts.get(fileOf(test)).passed += 1; });
runner.on("pending", (test) => { counts.get(fileOf(test)).pending += 1; });
runner.on("fail", (test, error) => {
  counts.get(fileOf(test)).failed += 1;
  failures.push({ title: test.fullTitle(), reason: String(error.message).split("\n").slice(0, 3).join(" / ") });
});
