// The first file of a context: takes the language's own parts before a script can replace them, sets the globals up
// and runs entries. Returns what the worker calls: `start`, `reply` and `fire`.
(function (native) {
  'use strict';
  const uncurry = (method) => (self, ...args) => Reflect_apply(method, self, args);
  const Reflect_apply = Reflect.apply;
  const primordials = {
    apply: Reflect.apply,
    isArray: Array.isArray,
    keys: Object.keys,
    create: Object.create,
    defineProperty: Object.defineProperty,
    getPrototypeOf: Object.getPrototypeOf,
    hasOwn: Object.hasOwn,
    freeze: Object.freeze,
    isSafeInteger: Number.isSafeInteger,
    Date, Error, TypeError, RangeError, RegExp, Promise, Map, WeakMap, Uint8Array, ArrayBuffer, Symbol, BigInt,
    String, Number, Boolean,
    dateTime: uncurry(Date.prototype.getTime),
    asIntN: BigInt.asIntN,
    isView: ArrayBuffer.isView,
    weakGet: uncurry(WeakMap.prototype.get),
    weakSet: uncurry(WeakMap.prototype.set),
    mapForEach: uncurry(Map.prototype.forEach),
    then: uncurry(Promise.prototype.then),
    exec: uncurry(RegExp.prototype.exec),
    lower: uncurry(String.prototype.toLowerCase),
    replaceAll: uncurry(String.prototype.replaceAll),
    slice: uncurry(String.prototype.slice),
    indexOf: uncurry(String.prototype.indexOf),
    regexSource: uncurry(Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get),
    regexFlags: uncurry(Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get),
    valueOfBigInt: uncurry(BigInt.prototype.toString),
    asyncIterator: Symbol.asyncIterator,
  };
  const { apply, create, defineProperty, hasOwn, isArray, weakGet, weakSet } = primordials;
  const rt = { native, primordials, hostErrors: new WeakMap(), limits: native.limits };
  const parts = create(null);

  /** A file of the runtime, evaluated once in a context. */
  rt.load = (name) => (name in parts ? parts[name] : (parts[name] = native.load(name)(rt)));

  /** Defines a property that is made when it is first asked for, and may be replaced. */
  rt.lazy = (target, name, enumerable, make) => {
    const put = (value) => {
      defineProperty(target, name, { __proto__: null, value, writable: true, enumerable, configurable: true });
      return value;
    };
    defineProperty(target, name, { __proto__: null, get: () => put(make()), set: put, enumerable, configurable: true });
  };
  rt.method = (target, name, value) => {
    defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };

  /** A value that the worker hands over as `[plain, what needs more than JSON]`. */
  rt.revive = (pair) => (pair[1] === null ? pair[0] : rt.load('bson').revive(pair[0], pair[1]));
  rt.write = (value) => rt.load('wire')(value, 0);
  rt.fact = (name) => rt.revive(native.fact(name));

  const pending = create(null);
  let pendingCount = 0;
  let lastCall = 0;

  /** Asks the gateway; the promise settles with its answer. Throws when too much is under way. */
  rt.host = (name, args) => {
    if (pendingCount >= rt.limits.queue) {
      throw new primordials.Error('exceeded max async work queue size of ' + rt.limits.queue);
    }
    const text = rt.write(args);
    const id = ++lastCall;
    // Made here, so that its stack shows who asked.
    const error = new primordials.Error('');
    const promise = new primordials.Promise((resolve, reject) => {
      pending[id] = { __proto__: null, resolve, reject, error };
    });
    native.call(id, name, text);
    pendingCount += 1;
    return promise;
  };

  const reply = (id, isAnswer, pair) => {
    const call = pending[id];
    if (call === undefined) return;
    delete pending[id];
    pendingCount -= 1;
    const value = rt.revive(pair);
    if (isAnswer) return call.resolve(value);
    const error = call.error;
    rt.method(error, 'message', value.message);
    if (value.name !== 'Error') rt.method(error, 'name', value.name);
    if (value.code !== null) error.code = value.code;
    if (value.errorCode !== null) error.errorCode = value.errorCode;
    weakSet(rt.hostErrors, error, value);
    call.reject(error);
  };

  const bodies = create(null);
  const refused = (what) => () => {
    throw new primordials.TypeError(what + ' is not supported: assign the function to `exports`');
  };
  const moduleTrap = create(null);
  defineProperty(moduleTrap, 'exports', {
    __proto__: null, get: refused('module.exports'), set: refused('module.exports'),
  });

  /** The function of a file, its top level run anew, as calls at this depth see it. */
  rt.entry = (name, depth) => {
    const body = name in bodies ? bodies[name] : (bodies[name] = native.compile(name));
    if (body === undefined) throw new primordials.Error("function not found: '" + name + "'");
    const context = depth === 0 ? globalThis.context : rt.load('context').at(depth);
    const found = apply(body, globalThis, [{}, context, moduleTrap]);
    if (typeof found !== 'function') {
      throw new primordials.TypeError(
        (name === '' ? 'the source' : "function '" + name + "'") + ' must assign a function to `exports`');
    }
    return found;
  };

  /** Runs an entry; tells the worker its result, never throws. */
  const start = async (name, isEndpoint, pair) => {
    let text;
    try {
      let args = rt.revive(pair);
      if (isEndpoint) args = rt.load('endpoint').args(args);
      let value = await apply(rt.entry(name, 0), undefined, args);
      if (rt.isCursor !== undefined && rt.isCursor(value)) value = await value.toArray();
      text = rt.write({ __proto__: null, value, response: isEndpoint ? rt.load('endpoint').outcome() : null });
    } catch (error) {
      native.failed(rt.write(rt.load('failure')(error)));
      return;
    }
    native.finished(text);
  };

  const timers = create(null);
  let lastTimer = 0;
  const addTimer = (callback, delay, args, repeats) => {
    if (typeof callback !== 'function') throw new primordials.TypeError('a timer needs a function');
    let wait = +delay;
    if (!(wait >= 1)) wait = repeats ? 1 : 0;
    const id = ++lastTimer;
    timers[id] = { __proto__: null, callback, args, wait, repeats };
    native.timer(id, wait);
    return id;
  };
  const clearTimer = (id) => {
    if (typeof id === 'number' && id in timers) {
      delete timers[id];
      native.clearTimer(id);
    }
  };
  const fire = (id) => {
    const timer = timers[id];
    if (timer === undefined) return;
    if (timer.repeats) native.timer(id, timer.wait);
    else delete timers[id];
    try {
      apply(timer.callback, undefined, timer.args);
    } catch (error) {
      native.failed(rt.write(rt.load('failure')(error)));
    }
  };

  const globals = {
    __proto__: null,
    setTimeout: (callback, delay, ...args) => addTimer(callback, delay, args, false),
    setInterval: (callback, delay, ...args) => addTimer(callback, delay, args, true),
    setImmediate: (callback, ...args) => addTimer(callback, 0, args, false),
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
    clearImmediate: clearTimer,
    require: (name) => rt.load('require')(name, ''),
  };
  for (const name in globals) rt.method(globalThis, name, globals[name]);
  rt.lazy(globalThis, 'console', false, () => rt.load('console'));
  rt.lazy(globalThis, 'context', false, () => rt.load('context').at(0));
  rt.lazy(globalThis, 'BSON', false, () => rt.load('bson').BSON);
  rt.lazy(globalThis, 'EJSON', false, () => rt.load('ejson'));
  rt.lazy(globalThis, 'utils', false, () => rt.load('utils'));
  rt.lazy(globalThis, 'Buffer', false, () => rt.load('require')('buffer', '').Buffer);
  rt.lazy(globalThis, 'process', false, () => rt.load('process'));
  rt.lazy(globalThis, 'URL', false, () => rt.load('require')('url', '').URL);
  rt.lazy(globalThis, 'URLSearchParams', false, () => rt.load('require')('url', '').URLSearchParams);
  delete globalThis.WebAssembly;
  return { start, reply, fire };
})
