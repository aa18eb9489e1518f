// The first file of a context: takes the language's own parts before a script can replace them, sets the globals up
// and runs entries. Returns what the worker calls: `start`, `reply`, `fire`, `last` and `close`.
//
// A context serves one call after another. What a call gets of us is made for it alone; what it has of the language
// itself is looked at when it is over, by `realm.js`, and the context serves no other call unless all is as it was.
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
    ownKeys: Reflect.ownKeys, descriptor: Object.getOwnPropertyDescriptor, isExtensible: Object.isExtensible,
    deleteProperty: Reflect.deleteProperty,
    freeze: Object.freeze,
    floor: Math.floor, ceil: Math.ceil,
    isSafeInteger: Number.isSafeInteger,
    Date, Error, TypeError, RangeError, RegExp, Promise, Map, Set, WeakMap, Uint8Array, ArrayBuffer, Symbol, BigInt,
    String, Number, Boolean,
    dateTime: uncurry(Date.prototype.getTime),
    asIntN: BigInt.asIntN,
    isView: ArrayBuffer.isView,
    weakGet: uncurry(WeakMap.prototype.get),
    weakSet: uncurry(WeakMap.prototype.set),
    mapForEach: uncurry(Map.prototype.forEach),
    setHas: uncurry(Set.prototype.has),
    setAdd: uncurry(Set.prototype.add),
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
  const { apply, create, defineProperty, hasOwn, isArray, freeze, weakGet, weakSet } = primordials;
  delete globalThis.WebAssembly;

  // What is made once in a context is frozen, or out of reach of scripts.
  const cached = (make) => {
    const known = create(null);
    return (name) => (name in known ? known[name] : (known[name] = make(name)));
  };
  const closed = (body) => {
    if (body === undefined) return undefined;
    // A script's own frame can name the function around it (`arguments.callee.caller`).
    freeze(body.prototype);
    return freeze(body);
  };
  const file = cached(native.load);
  const group = cached(native.group);
  // Has no state, and nothing of it reaches a script.
  const wire = file('wire')(native, primordials);
  const moduleBody = cached((path) => closed(group('modules').compileModule(path)));
  let kinds;
  /** The kinds of the app's services by their names; for the runtime alone. */
  const services = () => (kinds === undefined ? (kinds = native.fact('services')[0]) : kinds);
  const functionBody = cached((name) => closed(native.compile(name)));

  /** Defines a property that is made when it is first asked for, and may be replaced. */
  const lazy = (target, name, enumerable, make) => {
    const put = (value) => {
      defineProperty(target, name, { __proto__: null, value, writable: true, enumerable, configurable: true });
      return value;
    };
    defineProperty(target, name, { __proto__: null, get: () => put(make()), set: put, enumerable, configurable: true });
  };
  const method = (target, name, value) => {
    defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  const refused = (what) => () => {
    throw new primordials.TypeError(what + ' is not supported: assign the function to `exports`');
  };
  const moduleTrap = create(null);
  defineProperty(moduleTrap, 'exports', {
    __proto__: null, get: freeze(refused('module.exports')), set: freeze(refused('module.exports')),
  });
  freeze(moduleTrap);

  /** All that one call has of the runtime. */
  const makeRun = () => {
    const rt = {
      native, primordials, lazy, method, file, group, moduleBody, services, hostErrors: undefined,
      limits: native.limits, globals: create(null), form: wire.form, binaryText: wire.binaryText,
    };
    const parts = create(null);
    let isOver = false;

    /** A file of the runtime, run once for a call. */
    rt.load = (name) => {
      if (name in parts) return parts[name];
      realm.opens(name);
      return (parts[name] = file(name)(rt));
    };

    /** A value that the worker hands over as `[plain, what needs more than JSON]`. */
    rt.revive = (pair) => (pair[1] === null ? pair[0] : rt.load('bson').revive(pair[0], pair[1]));
    rt.write = (value) => wire.write(value, 0);
    rt.fact = (name) => rt.revive(native.fact(name));

    const pending = create(null);
    let pendingCount = 0;
    let lastCall = 0;

    let isMixed = false;
    /** More than the entry has a part in what the run returns: no answer is it. */
    rt.mix = () => {
      isMixed = true;
      native.keep();
    };

    /**
     * Asks the gateway; the promise settles with its answer. Throws when too much is under way.
     * `isPlain`: the promise is what the script gets, and all that it gets of the answer.
     */
    rt.host = (name, args, isPlain) => {
      if (isOver) throw new primordials.Error('the function has ended');
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
      native.call(id, name, text, isPlain === true && !isMixed);
      pendingCount += 1;
      return promise;
    };
    /** What else the worker tells of a run that is over with the answer to the only call under way. */
    rt.last = (isEndpoint) => {
      let stack;
      for (const id in pending) stack = pending[id].error.stack;
      return rt.write({ __proto__: null, stack, response: isEndpoint ? rt.load('endpoint').outcome() : null });
    };

    rt.reply = (id, isAnswer, pair) => {
      const call = pending[id];
      if (call === undefined) return;
      delete pending[id];
      pendingCount -= 1;
      const value = rt.revive(pair);
      if (isAnswer) return call.resolve(value);
      const error = call.error;
      method(error, 'message', value.message);
      if (value.name !== 'Error') method(error, 'name', value.name);
      if (value.code !== null) error.code = value.code;
      if (value.errorCode !== null) error.errorCode = value.errorCode;
      if (rt.hostErrors === undefined) rt.hostErrors = new primordials.WeakMap();
      weakSet(rt.hostErrors, error, value);
      call.reject(error);
    };

    /** The function of a file, its top level run anew, as calls at this depth see it. */
    rt.entry = (name, depth) => {
      realm.enters(name);
      // A source without a name is another each time.
      const body = name === '' ? native.compile(name) : functionBody(name);
      if (body === undefined) throw new primordials.Error("function not found: '" + name + "'");
      if (depth > 0) rt.mix();
      const context = depth === 0 ? globalThis.context : rt.load('context').at(depth);
      const found = apply(body, globalThis, [{}, context, moduleTrap]);
      if (typeof found !== 'function') {
        throw new primordials.TypeError(
          (name === '' ? 'the source' : "function '" + name + "'") + ' must assign a function to `exports`');
      }
      return found;
    };

    const timers = create(null);
    let lastTimer = 0;
    rt.addTimer = (callback, delay, args, repeats) => {
      if (typeof callback !== 'function') throw new primordials.TypeError('a timer needs a function');
      if (isOver) throw new primordials.Error('the function has ended');
      let wait = +delay;
      if (!(wait >= 1)) wait = repeats ? 1 : 0;
      const id = ++lastTimer;
      timers[id] = { __proto__: null, callback, args, wait, repeats };
      native.timer(id, wait);
      return id;
    };
    rt.clearTimer = (id) => {
      if (typeof id === 'number' && id in timers) {
        delete timers[id];
        native.clearTimer(id);
      }
    };
    rt.fire = (id) => {
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
    rt.end = () => { isOver = true; };
    return rt;
  };
  let run;

  /** Runs an entry; tells the worker its result, never throws. */
  const start = async (name, isEndpoint, pair) => {
    const rt = run;
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

  const functions = {
    __proto__: null,
    setTimeout: (callback, delay, ...args) => run.addTimer(callback, delay, args, false),
    setInterval: (callback, delay, ...args) => run.addTimer(callback, delay, args, true),
    setImmediate: (callback, ...args) => run.addTimer(callback, 0, args, false),
    clearTimeout: (id) => run.clearTimer(id),
    clearInterval: (id) => run.clearTimer(id),
    clearImmediate: (id) => run.clearTimer(id),
    require: (name) => run.load('require')(name, ''),
  };
  for (const name in functions) method(globalThis, name, freeze(functions[name]));
  const objects = {
    __proto__: null,
    console: (rt) => rt.load('console'),
    context: (rt) => rt.load('context').at(0),
    BSON: (rt) => rt.load('bson').BSON,
    EJSON: (rt) => rt.load('ejson'),
    utils: (rt) => rt.load('utils'),
    Buffer: (rt) => rt.load('require')('buffer', '').Buffer,
    process: (rt) => rt.load('process'),
    URL: (rt) => rt.load('require')('url', '').URL,
    URLSearchParams: (rt) => rt.load('require')('url', '').URLSearchParams,
  };
  // The call's own, whichever it is: the property is the same for all.
  for (const name in objects) {
    defineProperty(globalThis, name, {
      __proto__: null,
      get: freeze(() => (name in run.globals ? run.globals[name] : (run.globals[name] = objects[name](run)))),
      set: freeze((value) => { run.globals[name] = value; }),
      enumerable: false,
      configurable: true,
    });
  }

  const realm = file('realm')(native, primordials);
  run = makeRun();

  /** Ends the call; whether the context is as it was before, and so serves another. */
  const close = () => {
    run.end();
    if (!realm.isClean()) return false;
    run = makeRun();
    return true;
  };
  return {
    start, close,
    reply: (id, isAnswer, pair) => run.reply(id, isAnswer, pair),
    fire: (id) => run.fire(id),
    last: (isEndpoint) => run.last(isEndpoint),
  };
})
