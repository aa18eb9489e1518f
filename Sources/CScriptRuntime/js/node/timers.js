// `require("timers")`: the timers, as they are among the globals.
(function () {
  'use strict';
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  return { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
})
