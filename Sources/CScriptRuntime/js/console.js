// `console`: lines for the log of the call.
(function (rt) {
  'use strict';
  const { native, method } = rt;
  const { Error } = rt.primordials;
  const shown = (value) => {
    switch (typeof value) {
    case 'string': return value;
    case 'undefined': return 'undefined';
    case 'function': return '[Function' + (value.name ? ': ' + value.name : '') + ']';
    case 'symbol': return '[Symbol]';
    case 'bigint': return '' + value;
    case 'object':
      if (value instanceof Error) return value.name + ': ' + value.message;
    }
    return native.ejson(rt.write(value), true);
  };
  const log = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) {
      let text;
      try {
        text = shown(values[i]);
      } catch (error) {
        text = '[cannot be shown: ' + error.message + ']';
      }
      line += (i === 0 ? '' : ' ') + text;
    }
    native.log(line);
  };
  const console = {};
  for (const name of ['log', 'info', 'debug', 'warn', 'error', 'trace']) console[name] = log;
  method(console, 'assert', (condition, ...values) => {
    if (!condition) log('Assertion failed:', ...values);
  });
  return console;
})
