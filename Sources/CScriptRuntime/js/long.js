// `BSON.Long`: a 64-bit integer; arithmetic by BigInt, wrapped as the drivers' is.
(function (rt) {
  'use strict';
  const { BigInt, Number, asIntN, defineProperty, TypeError, exec, floor, ceil } = rt.primordials;
  const { method } = rt;

  function Long(low, high) {
    if (new.target === undefined) return new Long(low, high);
    let value;
    if (typeof low === 'bigint') value = asIntN(64, low);
    else if (high === undefined && typeof low === 'number') value = asIntN(64, BigInt(low | 0));
    else value = asIntN(64, (BigInt((high ?? 0) | 0) << 32n) | BigInt((low ?? 0) >>> 0));
    const put = (name, content) =>
      defineProperty(this, name, { __proto__: null, value: content, enumerable: false });
    put('integer', value);
    put('low', Number(asIntN(32, value)));
    put('high', Number(asIntN(32, value >> 32n)));
  }
  const whole = (value) => {
    if (value instanceof Long) return value.integer;
    if (typeof value === 'bigint') return value;
    if (typeof value === 'string') return Long.fromString(value).integer;
    if (typeof value !== 'number' || value !== value) throw new TypeError('a Long is made of a whole number');
    return BigInt(value < 0 ? ceil(value) : floor(value));
  };
  const made = (value) => new Long(value);
  const compare = (left, right) => (left < right ? -1 : left > right ? 1 : 0);

  Long.fromString = (text) => {
    if (exec(/^[+-]?\d+$/, text) === null) throw new TypeError("'" + text + "' is not a whole number");
    return made(BigInt(text[0] === '+' ? rt.primordials.slice(text, 1) : text));
  };
  Long.fromNumber = (value) => made(whole(value));
  Long.fromInt = (value) => made(BigInt(value | 0));
  Long.fromBigInt = (value) => made(value);
  Long.fromBits = (low, high) => new Long(low, high);
  Long.isLong = (value) => value instanceof Long;
  Long.ZERO = made(0n);
  Long.ONE = made(1n);
  Long.MAX_VALUE = made(9223372036854775807n);
  Long.MIN_VALUE = made(-9223372036854775808n);

  const methods = {
    toNumber() { return Number(this.integer); },
    toInt() { return this.low; },
    toBigInt() { return this.integer; },
    toString(radix) { return rt.primordials.valueOfBigInt(this.integer, radix); },
    toJSON() { return Number(this.integer); },
    valueOf() { return Number(this.integer); },
    add(other) { return made(this.integer + whole(other)); },
    subtract(other) { return made(this.integer - whole(other)); },
    multiply(other) { return made(this.integer * whole(other)); },
    divide(other) { return made(this.integer / whole(other)); },
    modulo(other) { return made(this.integer % whole(other)); },
    negate() { return made(-this.integer); },
    compare(other) { return compare(this.integer, whole(other)); },
    equals(other) { return this.integer === whole(other); },
    lessThan(other) { return this.integer < whole(other); },
    lessThanOrEqual(other) { return this.integer <= whole(other); },
    greaterThan(other) { return this.integer > whole(other); },
    greaterThanOrEqual(other) { return this.integer >= whole(other); },
    isZero() { return this.integer === 0n; },
    isNegative() { return this.integer < 0n; },
  };
  for (const name in methods) method(Long.prototype, name, methods[name]);
  return Long;
})
