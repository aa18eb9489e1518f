// Whether the language's own objects are as they were when the context was made.
//
// All that a script can reach without making it is walked once: from the globals, and from one sample of each thing
// that syntax or a built-in method makes. Built-in functions without a `prototype` are frozen: nothing hangs on them.
// Of every other object the prototype, extensibility, own keys in their order and the descriptors are kept, and
// compared when a call is over. None of that runs a script's code: no getter is read, and descriptors are looked at
// with `Object.prototype` known to be as it was.
//
// Globals that syntax does not reach (`Math`, `Map`, …) cost nothing until a script asks for them: unless the app's
// sources name them, an accessor stands in their place; once it was asked, the context serves no other call, and
// the next context looks at that global, too.
//
// After functions whose sources prove that they cannot change any of it (`SourceProof`) only the globals that an
// assignment can make are counted, but for one call in so many, which is looked at as a whole all the same.
(function (native, primordials) {
  'use strict';
  const { create, defineProperty, descriptor, deleteProperty, exec, freeze, getPrototypeOf, hasOwn, isExtensible } =
    primordials;
  const { ownKeys, RegExp } = primordials;
  const bytes = [
    'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array',
    'Int32Array', 'Uint32Array', 'Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array',
  ];
  const apart = [
    ['Math'], ['JSON'], ['Reflect'], ['Proxy'], ['Date'], ['Map', 'Set', 'WeakMap', 'WeakSet'], bytes, ['Intl'],
  ];
  // Their work goes on after the call: collected objects are told of, waits end.
  const never = ['FinalizationRegistry', 'WeakRef', 'Atomics', 'SharedArrayBuffer'];
  let isSpent = !native.isKept();
  if (isSpent) return { isClean: () => false, opens: () => undefined, enters: () => undefined };
  // Whether something ran in this call whose source proves nothing.
  let isSuspect = false;
  let trusted = 0;

  const asked = (names, isLearnt) => {
    isSpent = true;
    if (isLearnt) native.learn(names[0]);
  };
  const stand = (name, whenAsked) => {
    const own = descriptor(globalThis, name);
    if (own === undefined || !own.configurable) return;
    const put = (value) => {
      defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    };
    const get = freeze(() => {
      whenAsked();
      put(own.value);
      return own.value;
    });
    defineProperty(globalThis, name, {
      __proto__: null, get, set: freeze(put), enumerable: false, configurable: true,
    });
  };
  const standing = create(null);
  for (let i = 0; i < apart.length; i++) {
    const names = apart[i];
    let isNamed = false;
    for (let j = 0; j < names.length; j++) if (native.mentions(names[j])) isNamed = true;
    if (isNamed) continue;
    for (let j = 0; j < names.length; j++) {
      standing[names[j]] = names;
      stand(names[j], () => asked(names, true));
    }
  }
  for (let i = 0; i < never.length; i++) stand(never[i], () => asked([never[i]], false));

  // Files of ours whose objects lead to such globals.
  const leads = { __proto__: null, context: '', console: '', mongodb: '', cursor: '', session: '', bulk: '',
    failure: '', endpoint: '', http: '', ejson: '', utils: '', jwt: '', crypto: '', bson: ['Date', 'Uint8Array'], long: '' };
  const opens = (file) => {
    const names = leads[file];
    if (names === undefined) isSuspect = true;
    if (names === '' || isSpent) return;
    if (names === undefined) {
      for (const name in standing) asked(standing[name], true);
    } else {
      for (let i = 0; i < names.length; i++) {
        if (standing[names[i]] !== undefined) asked(standing[names[i]], true);
      }
    }
  };

  // MARK: The walk

  const objects = [];
  const seen = new primordials.Set();
  const has = (object) => primordials.setHas(seen, object);
  const reach = (object) => {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || has(object)) return;
    primordials.setAdd(seen, object);
    objects[objects.length] = object;
  };
  const samples = [
    Object.prototype, globalThis, function () {}, () => undefined, async () => undefined, function* () {},
    async function* () {}, class {}, [][Symbol.iterator](), ''[Symbol.iterator](), ''.matchAll(/a/g), /a/, Symbol.iterator,
    0n, 0, '', true, (function () { return arguments; })(),
    new AggregateError([]), new URIError(), new EvalError(), new TypeError(), new RangeError(), new SyntaxError(), new ReferenceError(),
  ];
  if (standing.Map === undefined) {
    samples[samples.length] = new Map().entries();
    samples[samples.length] = new Set().values();
  }
  if (standing.Intl === undefined && typeof Intl === 'object' && Intl.Segmenter !== undefined) {
    const segments = new Intl.Segmenter().segment('a');
    samples[samples.length] = segments;
    samples[samples.length] = segments[Symbol.iterator]();
  }
  if (typeof Iterator === 'function') {
    if (Iterator.from !== undefined) samples[samples.length] = Iterator.from({ next: () => ({ done: true }) });
    if (Iterator.prototype.map !== undefined) samples[samples.length] = [].values().map((x) => x);
  }
  const mine = new primordials.Set();
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i];
    if (sample !== globalThis && sample !== Object.prototype && sample !== null &&
      (typeof sample === 'object' || typeof sample === 'function')) {
      // The sample itself is nobody's; what it has of others is.
      primordials.setAdd(mine, sample);
      if (typeof sample === 'function' && sample.prototype !== undefined) primordials.setAdd(mine, sample.prototype);
    }
    reach(typeof sample === 'object' || typeof sample === 'function' ? sample : getPrototypeOf(sample));
  }
  const kept = [];
  const fixed = ['length', 'name'];
  const still = { __proto__: null, configurable: false };
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i];
    const names = ownKeys(object);
    reach(getPrototypeOf(object));
    for (let j = 0; j < names.length; j++) {
      const own = descriptor(object, names[j]);
      if (hasOwn(own, 'value')) reach(own.value);
      else {
        reach(own.get);
        reach(own.set);
      }
    }
    if (primordials.setHas(mine, object)) continue;
    if (typeof object === 'function') {
      // Nobody renames what the language names; so these need not be looked at.
      for (let j = 0; j < fixed.length; j++) if (hasOwn(object, fixed[j])) defineProperty(object, fixed[j], still);
    }
    if (typeof object === 'function' && !hasOwn(object, 'prototype') && names.length === 2) freeze(object);
    else kept[kept.length] = object;
  }

  // MARK: What is kept

  const neutral = /(?:)/;
  const quiet = () => exec(neutral, '');
  quiet();
  const prototypes = [];
  const ends = [];
  const keys = [];
  const values = [];
  const setters = [];
  const flags = [];
  // Which of them can change at all.
  const loose = [];
  const looseEnds = [];
  const flagsOf = (own) =>
    (hasOwn(own, 'value') ? (own.writable ? 1 : 0) : 2) + (own.enumerable ? 4 : 0) + (own.configurable ? 8 : 0);
  for (let i = 0; i < kept.length; i++) {
    const names = ownKeys(kept[i]);
    prototypes[i] = getPrototypeOf(kept[i]);
    for (let j = 0; j < names.length; j++) {
      const own = descriptor(kept[i], names[j]);
      const at = keys.length;
      keys[at] = names[j];
      flags[at] = flagsOf(own);
      values[at] = flags[at] & 2 ? own.get : own.value;
      setters[at] = flags[at] & 2 ? own.set : undefined;
      if (own.configurable || own.writable) loose[loose.length] = at;
    }
    looseEnds[i] = loose.length;
    ends[i] = keys.length;
  }
  const globalKeys = create(null);
  const globalNames = ownKeys(globalThis);
  for (let i = 0; i < globalNames.length; i++) globalKeys[globalNames[i]] = true;
  // What an assignment makes is enumerable, what the language has is not; to list those alone is much less work.
  const shown = primordials.keys(globalThis).length;
  const inherited = ownKeys(Object.prototype);

  /** What a script may call without having made it, as the proof wants it. */
  const allNames = () => {
    let text = '';
    for (let i = 0; i < globalNames.length; i++) if (typeof globalNames[i] === 'string') text += globalNames[i] + ' ';
    for (let i = 0; i < inherited.length; i++) if (typeof inherited[i] === 'string') text += inherited[i] + ' ';
    return text;
  };
  const proven = create(null);

  /** A function of this name runs; one without a name is of an unknown source. */
  const enters = (name) => {
    if (!(name in proven)) proven[name] = name !== '' && native.isProven(name, allNames());
    if (!proven[name]) isSuspect = true;
  };

  /** Takes away what a script left in the globals, as `x = 1` does. */
  const sweep = () => {
    const names = ownKeys(globalThis);
    for (let i = 0; i < names.length; i++) {
      if (globalKeys[names[i]] !== true && !deleteProperty(globalThis, names[i])) return;
    }
  };

  const isSame = (object, from, to, looseFrom, looseTo) => {
    const names = ownKeys(object);
    if (names.length !== to - from) return false;
    for (let at = from; at < to; at++) if (names[at - from] !== keys[at]) return false;
    for (let i = looseFrom; i < looseTo; i++) {
      const at = loose[i];
      const own = descriptor(object, keys[at]);
      const flag = flags[at];
      if (own.enumerable !== ((flag & 4) !== 0) || own.configurable !== ((flag & 8) !== 0)) return false;
      const value = values[at];
      if (flag & 2) {
        if (own.get !== value || own.set !== setters[at]) return false;
      } else {
        // Of an accessor in its place both are undefined.
        if (own.writable !== ((flag & 1) !== 0)) return false;
        const now = own.value;
        if (now !== value && (now === now || value === value)) return false;
      }
    }
    return true;
  };

  const isClean = () => {
    if (isSpent) return false;
    quiet();
    trusted += 1;
    if (!isSuspect && trusted < 64 && primordials.keys(globalThis).length === shown) return true;
    isSuspect = false;
    trusted = 0;
    // The first of all is `Object.prototype`, its keys before all else: descriptors inherit from it.
    let from = 0;
    let looseFrom = 0;
    for (let i = 0; i < kept.length; i++) {
      const object = kept[i];
      if (object === globalThis) sweep();
      if (getPrototypeOf(object) !== prototypes[i] || !isExtensible(object)) return false;
      if (!isSame(object, from, ends[i], looseFrom, looseEnds[i])) return false;
      from = ends[i];
      looseFrom = looseEnds[i];
    }
    // A flag that its descriptor does not show; the setter is the engine's, as was just seen.
    RegExp.multiline = false;
    return true;
  };
  return { isClean, opens, enters };
})
