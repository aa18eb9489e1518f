// `EJSON`: canonical Extended JSON.
(function (rt) {
  'use strict';
  const { native } = rt;
  return {
    parse: (text) => rt.revive(native.parse('' + text)),
    stringify: (value, replacer, space, options) => {
      const chosen = options ?? (replacer !== null && typeof replacer === 'object' ? replacer : undefined);
      return native.ejson(rt.write(value), chosen !== undefined && chosen.relaxed === true);
    },
    serialize: (value) => JSON.parse(native.ejson(rt.write(value), false)),
    deserialize: (value) => rt.revive(native.parse(JSON.stringify(value))),
  };
})
