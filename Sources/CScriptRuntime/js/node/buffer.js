// `require("buffer")`: bytes with encodings, on `Uint8Array`.
(function (rt) {
  'use strict';
  const { native } = rt;
  const names = {
    'utf8': 'utf8', 'utf-8': 'utf8', 'hex': 'hex', 'base64': 'base64', 'base64url': 'base64url', 'ascii': 'ascii',
    'latin1': 'latin1', 'binary': 'latin1', 'ucs2': 'utf16le', 'ucs-2': 'utf16le', 'utf16le': 'utf16le',
    'utf-16le': 'utf16le',
  };
  const encodingOf = (name) => {
    const known = names[('' + (name ?? 'utf8')).toLowerCase()];
    if (known === undefined) throw new TypeError('Unknown encoding: ' + name);
    return known;
  };
  const units = (text, mask) => {
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i) & mask;
    return out;
  };
  const encode = (text, name) => {
    switch (encodingOf(name)) {
    case 'utf8': return native.utf8(text);
    case 'hex': {
      const digits = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
      return native.fromHex(digits);
    }
    case 'base64': case 'base64url': {
      const clean = text.replace(/[^A-Za-z0-9+/_-]/g, '');
      return native.fromBase64(clean.length % 4 === 1 ? clean.slice(0, -1) : clean) ?? new Uint8Array(0);
    }
    case 'utf16le': {
      const out = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        out[2 * i] = unit & 255;
        out[2 * i + 1] = unit >> 8;
      }
      return out;
    }
    default: return units(text, 255);
    }
  };
  const decode = (bytes, name) => {
    switch (encodingOf(name)) {
    case 'utf8': return native.text(bytes);
    case 'hex': return native.hex(bytes);
    case 'base64': return native.base64(bytes);
    case 'base64url':
      return native.base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    case 'utf16le': {
      let out = '';
      for (let i = 0; i + 1 < bytes.length; i += 2) out += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
      return out;
    }
    case 'ascii': {
      let out = '';
      for (let i = 0; i < bytes.length; i++) out += String.fromCharCode(bytes[i] & 127);
      return out;
    }
    default: {
      let out = '';
      for (let i = 0; i < bytes.length; i++) out += String.fromCharCode(bytes[i]);
      return out;
    }
    }
  };
  /** The same bytes as a plain array, for the natives. */
  const plain = (buffer) => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);

  class Bytes extends Uint8Array {
    toString(encoding, start = 0, end = this.length) {
      return decode(plain(this).subarray(Math.max(0, start), Math.min(end, this.length)), encoding);
    }
    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
    toJSON() { return { type: 'Buffer', data: Array.from(plain(this)) }; }
    inspect() { return '<Buffer ' + native.hex(plain(this)).replace(/..(?=.)/g, '$& ') + '>'; }
    equals(other) { return Buffer.compare(this, other) === 0; }
    compare(other) { return Buffer.compare(this, other); }
    slice(start, end) { return this.subarray(start, end); }
    subarray(start, end) {
      const view = plain(this).subarray(start, end);
      return new Bytes(view.buffer, view.byteOffset, view.length);
    }
    write(text, offset = 0, length = undefined, encoding = undefined) {
      if (typeof offset === 'string') [encoding, offset, length] = [offset, 0, undefined];
      else if (typeof length === 'string') [encoding, length] = [length, undefined];
      const bytes = encode(text, encoding).subarray(0, Math.min(length ?? Infinity, this.length - offset));
      this.set(bytes, offset);
      return bytes.length;
    }
    copy(target, at = 0, start = 0, end = this.length) {
      const part = plain(this).subarray(start, Math.min(end, start + target.length - at));
      target.set(part, at);
      return part.length;
    }
    fill(value, start = 0, end = this.length, encoding = undefined) {
      if (typeof start === 'string') [encoding, start, end] = [start, 0, this.length];
      if (typeof value === 'number') return super.fill(value & 255, start, end);
      const pattern = typeof value === 'string' ? encode(value, encoding) : value;
      if (pattern.length === 0) return super.fill(0, start, end);
      for (let i = start; i < end; i++) this[i] = pattern[(i - start) % pattern.length];
      return this;
    }
    indexOf(value, from = 0, encoding = undefined) {
      if (typeof value === 'number') return super.indexOf(value & 255, from);
      const wanted = typeof value === 'string' ? encode(value, encoding) : value;
      for (let i = from < 0 ? Math.max(0, this.length + from) : from; i + wanted.length <= this.length; i++) {
        let j = 0;
        while (j < wanted.length && this[i + j] === wanted[j]) j += 1;
        if (j === wanted.length) return i;
      }
      return -1;
    }
    includes(value, from, encoding) { return this.indexOf(value, from, encoding) >= 0; }
    swap16() {
      for (let i = 0; i + 1 < this.length; i += 2) [this[i], this[i + 1]] = [this[i + 1], this[i]];
      return this;
    }
  }
  const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const kinds = [
    ['UInt8', 'Uint8', 1], ['Int8', 'Int8', 1], ['UInt16', 'Uint16', 2], ['Int16', 'Int16', 2],
    ['UInt32', 'Uint32', 4], ['Int32', 'Int32', 4], ['BigUInt64', 'BigUint64', 8], ['BigInt64', 'BigInt64', 8],
    ['Float', 'Float32', 4], ['Double', 'Float64', 8],
  ];
  const add = (name, value) =>
    Object.defineProperty(Bytes.prototype, name, { value, writable: true, configurable: true });
  for (const [name, type, size] of kinds) {
    for (const end of size === 1 ? [''] : ['LE', 'BE']) {
      add('read' + name + end, function (offset = 0) { return view(this)['get' + type](offset, end === 'LE'); });
      add('write' + name + end, function (value, offset = 0) {
        view(this)['set' + type](offset, value, end === 'LE');
        return offset + size;
      });
    }
  }

  /** Callable without `new`, as old packages do. */
  function Buffer(value, encoding, length) {
    return typeof value === 'number' ? Buffer.alloc(value) : Buffer.from(value, encoding, length);
  }
  Buffer.prototype = Bytes.prototype;
  Object.defineProperty(Bytes.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });
  Object.defineProperty(Bytes, Symbol.species, { value: Bytes });
  const wrap = (bytes) => new Bytes(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  Buffer.from = (value, encoding, length) => {
    if (typeof value === 'string') return wrap(encode(value, encoding));
    if (value instanceof ArrayBuffer) return new Bytes(value, encoding, length);
    if (ArrayBuffer.isView(value)) return wrap(Uint8Array.from(value));
    if (value !== null && typeof value === 'object') {
      if (value._bsontype === 'Binary' || value._bsontype === 'UUID') return wrap(Uint8Array.from(value.buffer));
      if (value.type === 'Buffer' && Array.isArray(value.data)) return wrap(Uint8Array.from(value.data));
      if (typeof value.length === 'number') return wrap(Uint8Array.from(value, (byte) => byte & 255));
      const primitive = value.valueOf();
      if (primitive !== value) return Buffer.from(primitive, encoding, length);
    }
    throw new TypeError('The first argument must be a string, a buffer, an array or an object like them');
  };
  const sized = (size) => {
    if (typeof size !== 'number' || !(size >= 0)) throw new TypeError('The "size" argument must be a size');
    return new Bytes(size);
  };
  Buffer.alloc = (size, fill, encoding) => (fill === undefined ? sized(size) : sized(size).fill(fill, 0, size, encoding));
  Buffer.allocUnsafe = sized;
  Buffer.allocUnsafeSlow = sized;
  Buffer.isBuffer = (value) => value instanceof Bytes;
  Buffer.isEncoding = (name) => typeof name === 'string' && names[name.toLowerCase()] !== undefined;
  Buffer.byteLength = (value, encoding) =>
    (typeof value === 'string' ? encode(value, encoding).length : value.byteLength);
  Buffer.concat = (list, total = list.reduce((sum, one) => sum + one.length, 0)) => {
    const out = Buffer.alloc(total);
    let at = 0;
    for (const one of list) {
      if (at >= total) break;
      const part = one.length > total - at ? one.subarray(0, total - at) : one;
      out.set(part, at);
      at += part.length;
    }
    return out;
  };
  Buffer.compare = (left, right) => {
    const shared = Math.min(left.length, right.length);
    for (let i = 0; i < shared; i++) if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
    return Math.sign(left.length - right.length);
  };
  Buffer.poolSize = 8192;
  const btoa = (text) => native.base64(units('' + text, 255));
  const atob = (text) => decode(encode('' + text, 'base64'), 'latin1');
  return { Buffer, SlowBuffer: Buffer, kMaxLength: 0x7fffffff, INSPECT_MAX_BYTES: 50, btoa, atob };
})
