// `BSON`: the types that JavaScript lacks, and values of the gateway as objects of them.
(function (rt) {
  'use strict';
  const { isArray, keys, create, defineProperty, isView, exec } = rt.primordials;
  const { Date, RegExp, Uint8Array, ArrayBuffer, TypeError } = rt.primordials;
  const { native, method } = rt;
  const { form } = rt;

  const hide = (self, name, value) => {
    defineProperty(self, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  const finish = (type, kind, methods, write) => {
    method(type.prototype, '_bsontype', kind);
    defineProperty(type.prototype, form, { __proto__: null, value: write });
    for (const name in methods) method(type.prototype, name, methods[name]);
    return type;
  };

  function ObjectId(id) {
    if (new.target === undefined) return new ObjectId(id);
    let hex;
    if (id === undefined || id === null) hex = native.objectID(-1);
    else if (typeof id === 'number') hex = native.objectID(id);
    else if (typeof id === 'string' && id.length === 24 && exec(/^[0-9a-fA-F]{24}$/, id) !== null) {
      hex = rt.primordials.lower(id);
    } else if (typeof id === 'string' && id.length === 12 && native.utf8(id).length === 12) {
      hex = native.hex(native.utf8(id));
    } else if (id instanceof ObjectId) hex = id.id;
    else if (isView(id) && id.byteLength === 12) hex = native.hex(id);
    else throw new TypeError('an ObjectId is made of 24 hexadecimal digits or 12 bytes');
    hide(this, 'id', hex);
  }
  finish(ObjectId, 'ObjectID', {
    toString() { return this.id; },
    toHexString() { return this.id; },
    toJSON() { return this.id; },
    valueOf() { return this.id; },
    inspect() { return this.id; },
    equals(other) { return other !== null && other !== undefined && '' + other === this.id; },
    getTimestamp() { return new Date(parseInt(rt.primordials.slice(this.id, 0, 8), 16) * 1000); },
  }, (value) => 'o' + value.id);
  ObjectId.isValid = (id) => {
    try {
      return id !== undefined && id !== null && ObjectId(id) instanceof ObjectId;
    } catch {
      return false;
    }
  };
  ObjectId.createFromHexString = (hex) => new ObjectId(hex);
  ObjectId.createFromTime = (seconds) => new ObjectId(native.hexWord(seconds) + '0000000000000000');

  /** Numbers of a type of their own: `value` is what JavaScript computes with. */
  const number = (type, kind, write) => finish(type, kind, {
    toString() { return '' + this.value; },
    toJSON() { return this.value; },
    valueOf() { return this.value; },
  }, write);
  function Int32(value) {
    if (new.target === undefined) return new Int32(value);
    hide(this, 'value', value === undefined ? 0 : value | 0);
  }
  number(Int32, 'Int32', (value) => 'i' + (value.value | 0) + ';');
  function Double(value) {
    if (new.target === undefined) return new Double(value);
    hide(this, 'value', value === undefined ? 0 : +value);
  }
  number(Double, 'Double', (value) =>
    'd' + (value.value === 0 && 1 / value.value < 0 ? '-0' : +value.value) + ';');

  const Long = rt.load('long');
  finish(Long, 'Long', {}, (value) => 'l' + value.toBigInt() + ';');

  function Decimal128(text) {
    if (new.target === undefined) return new Decimal128(text);
    const digits = native.decimal('' + text);
    if (digits === undefined) throw new TypeError("'" + text + "' is not a valid Decimal128");
    hide(this, 'digits', digits);
  }
  finish(Decimal128, 'Decimal128', {
    toString() { return this.digits; },
    toJSON() { return { $numberDecimal: this.digits }; },
    valueOf() { return +this.digits; },
  }, (value) => 'm' + value.digits + ';');
  Decimal128.fromString = (text) => new Decimal128(text);

  const bytes = (value, what) => {
    if (value instanceof Binary) return value.buffer;
    if (isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    throw new TypeError(what + ' takes a string or a BSON.Binary');
  };

  function Binary(data, subtype) {
    if (new.target === undefined) return new Binary(data, subtype);
    hide(this, 'sub_type', subtype === undefined ? 0 : subtype & 255);
    if (typeof data === 'string') data = native.utf8(data);
    else data = data === undefined ? new Uint8Array(0) : bytes(data, 'Binary');
    hide(this, 'buffer', data);
  }
  finish(Binary, 'Binary', {
    text() { return native.text(this.buffer); },
    toBase64() { return native.base64(this.buffer); },
    toHex() { return native.hex(this.buffer); },
    length() { return this.buffer.length; },
    value() { return this.buffer; },
    toString(encoding) {
      if (encoding === 'base64') return this.toBase64();
      return encoding === 'hex' ? this.toHex() : this.text();
    },
    toJSON() { return this.toBase64(); },
    equals(other) { return other instanceof Binary && other.toHex() === this.toHex(); },
  }, (value) => rt.binaryText(value.sub_type, value.buffer));
  Binary.fromHex = (hex, subtype) => {
    const data = native.fromHex('' + hex);
    if (data === undefined) throw new TypeError('encoding/hex: invalid hexadecimal text');
    return made(data, subtype);
  };
  Binary.fromBase64 = (text, subtype) => {
    text = '' + text;
    const data = text.length % 4 === 0 ? native.fromBase64(text) : undefined;
    if (data === undefined) throw new TypeError('illegal base64 data: padding is due');
    return made(data, subtype);
  };
  Binary.fromText = (text, subtype) => made(native.utf8('' + text), subtype);

  function UUID(text) {
    if (new.target === undefined) return new UUID(text);
    let data;
    if (text === undefined) data = native.uuid();
    else if (typeof text === 'string') {
      const hex = rt.primordials.replaceAll(text, '-', '');
      data = hex.length === 32 ? native.fromHex(hex) : undefined;
    } else data = bytes(text, 'UUID');
    if (data === undefined || data.length !== 16) throw new TypeError('a UUID has 32 hexadecimal digits');
    hide(this, 'sub_type', 4);
    hide(this, 'buffer', data);
  }
  UUID.prototype = create(Binary.prototype);
  const dashed = (self) => {
    const hex = native.hex(self.buffer);
    const { slice } = rt.primordials;
    return slice(hex, 0, 8) + '-' + slice(hex, 8, 12) + '-' + slice(hex, 12, 16) + '-' + slice(hex, 16, 20) + '-' +
      slice(hex, 20);
  };
  finish(UUID, 'UUID', {
    constructor: UUID,
    toString() { return dashed(this); },
    toHexString() { return dashed(this); },
    toJSON() { return dashed(this); },
    valueOf() { return dashed(this); },
  }, (value) => rt.binaryText(4, value.buffer));

  const made = (data, subtype) =>
    (subtype === 4 && data.length === 16 ? new UUID(data) : new Binary(data, subtype));

  function BSONRegExp(pattern, options) {
    if (new.target === undefined) return new BSONRegExp(pattern, options);
    this.pattern = '' + pattern;
    this.options = options === undefined ? '' : '' + options;
  }
  finish(BSONRegExp, 'BSONRegExp', { toString() { return '/' + this.pattern + '/' + this.options; } }, (value) =>
    'r' + value.pattern.length + ':' + value.pattern + value.options.length + ':' + value.options);

  function Timestamp(seconds, increment) {
    if (new.target === undefined) return new Timestamp(seconds, increment);
    const parts = seconds !== null && typeof seconds === 'object' ? seconds : { t: seconds, i: increment };
    this.t = parts.t >>> 0;
    this.i = parts.i >>> 0;
  }
  finish(Timestamp, 'Timestamp', {}, (value) => 'T' + (value.t >>> 0) + ',' + (value.i >>> 0) + ';');

  function Code(code) {
    if (new.target === undefined) return new Code(code);
    this.code = '' + code;
  }
  finish(Code, 'Code', { toString() { return this.code; } }, (value) => 'c' + value.code.length + ':' + value.code);

  // Used as values, without a call.
  const extreme = (kind, name, letter) =>
    defineProperty(
      { toJSON: () => ({ [name]: 1 }), toString: () => kind, _bsontype: kind }, form,
      { __proto__: null, value: () => letter });
  const MinKey = extreme('MinKey', '$minKey', '<');
  const MaxKey = extreme('MaxKey', '$maxKey', '>');

  const regex = (pattern, options) => {
    try {
      if (exec(/^[ims]*$/, options) !== null) return new RegExp(pattern, options);
    } catch {
      // A pattern of PCRE that JavaScript does not know.
    }
    return new BSONRegExp(pattern, options);
  };
  const make = (leaf) => {
    switch (leaf[0]) {
    case 'o': return new ObjectId(leaf[1]);
    case 'D': return new Date(leaf[1]);
    case 'l': return Long.fromString(leaf[1]);
    case 'd': return +leaf[1];
    case 'm': return new Decimal128(leaf[1]);
    case 'b': return made(native.fromBase64(leaf[2]), leaf[1]);
    case 'r': return regex(leaf[1], leaf[2]);
    case 'T': return new Timestamp(leaf[1], leaf[2]);
    case 'c': return new Code(leaf[1]);
    case '<': return MinKey;
    case '>': return MaxKey;
    default: return undefined;
    }
  };
  const revive = (value, mends) => {
    if (isArray(mends)) return make(mends);
    const names = keys(mends);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      value[name] = revive(value[name], mends[name]);
    }
    return value;
  };

  const BSON = {
    ObjectId, ObjectID: ObjectId, Int32, Double, Long, Decimal128, Binary, UUID, BSONRegExp, Timestamp, Code,
    MinKey, MaxKey,
  };
  return { BSON, revive, bytes };
})
