// `utils`: tokens and cryptography, done by the worker.
(function (rt) {
  'use strict';
  return { __proto__: Object.prototype, jwt: rt.load('jwt'), crypto: rt.load('crypto') };
})
