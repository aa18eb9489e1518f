// Equality of values by what they hold, for `assert` and `util`.
(function () {
  'use strict';
  const tag = (value) => Object.prototype.toString.call(value);
  const deep = (left, right, isStrict) => {
    const pairs = [];
    const same = (a, b) => {
      if (isStrict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true;
      if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
      if (tag(a) !== tag(b)) return false;
      if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
      if (a instanceof Date && a.getTime() !== b.getTime()) return false;
      if (a instanceof RegExp && '' + a !== '' + b) return false;
      if (a instanceof Error && (a.name !== b.name || a.message !== b.message)) return false;
      if (a instanceof Number || a instanceof String || a instanceof Boolean) {
        if (!Object.is(a.valueOf(), b.valueOf())) return false;
      }
      if (a._bsontype !== undefined && (a._bsontype !== b._bsontype || '' + a !== '' + b)) return false;
      if (pairs.some(([x, y]) => x === a && y === b)) return true;
      pairs.push([a, b]);
      if (a instanceof Map) {
        if (a.size !== b.size) return false;
        for (const [key, value] of a) if (!b.has(key) || !same(value, b.get(key))) return false;
      } else if (a instanceof Set) {
        if (a.size !== b.size) return false;
        for (const value of a) if (!b.has(value) && ![...b].some((other) => same(value, other))) return false;
      }
      const keys = Object.keys(a);
      return keys.length === Object.keys(b).length &&
        keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
    };
    return same(left, right);
  };
  return { deep };
})
