// A value as the text that the worker reads (`ScriptTextReader`): a letter for the type, lengths in UTF-16 units.
(function (native, primordials) {
  'use strict';
  const { isArray, keys, isSafeInteger, dateTime, mapForEach, isView, regexSource, regexFlags, asIntN } =
    primordials;
  const { Date, RegExp, Map, ArrayBuffer, Uint8Array, RangeError, TypeError, String, Number, Boolean } =
    primordials;
  // Under this symbol the classes of `BSON` say how an instance is written.
  const form = primordials.Symbol('form');
  const deepest = 180;

  const integer = (value) => {
    if (asIntN(64, value) !== value) throw new RangeError('the integer ' + value + ' does not fit into 64 bits');
    return 'l' + value + ';';
  };
  const regex = (value) => {
    const pattern = regexSource(value);
    const flags = regexFlags(value);
    let options = '';
    for (let i = 0; i < flags.length; i++) {
      const flag = flags[i];
      if (flag === 'i' || flag === 'm' || flag === 's' || flag === 'u') options += flag;
    }
    return 'r' + pattern.length + ':' + pattern + options.length + ':' + options;
  };
  const binaryText = (subtype, bytes) => {
    const text = native.base64(bytes);
    return 'b' + (subtype < 16 ? '0' : '') + native.hexByte(subtype) + text.length + ':' + text;
  };

  const write = (value, depth) => {
    switch (typeof value) {
    case 'string': return 's' + value.length + ':' + value;
    case 'number':
      if (value === (value | 0) && (value !== 0 || 1 / value > 0)) return 'i' + value + ';';
      if (value === 0) return 'd-0;';
      return (isSafeInteger(value) ? 'l' : 'd') + value + ';';
    case 'boolean': return value ? 't' : 'f';
    case 'bigint': return integer(value);
    case 'object': break;
    default: return 'u';
    }
    if (value === null) return 'n';
    if (depth > deepest) throw new TypeError('a value is nested too deeply, or holds itself');
    if (isArray(value)) {
      let out = '[';
      const { length } = value;
      for (let i = 0; i < length; i++) {
        const type = typeof value[i];
        out += type === 'function' || type === 'symbol' ? 'n' : write(value[i], depth + 1);
      }
      return out + ']';
    }
    const own = value[form];
    if (typeof own === 'function') return own(value, depth);
    if (value instanceof Date) {
      const time = dateTime(value);
      if (time !== time) throw new RangeError('an invalid date cannot be stored');
      return 'D' + time + ';';
    }
    if (value instanceof RegExp) return regex(value);
    if (isView(value)) return binaryText(0, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    if (value instanceof ArrayBuffer) return binaryText(0, new Uint8Array(value));
    if (value instanceof String || value instanceof Number || value instanceof Boolean) {
      return write(value.valueOf(), depth + 1);
    }
    let out = '{';
    if (value instanceof Map) {
      mapForEach(value, (element, key) => { out += field('' + key, element, depth); });
      return out + '}';
    }
    const names = keys(value);
    for (let i = 0; i < names.length; i++) out += field(names[i], value[names[i]], depth);
    return out + '}';
  };
  const field = (key, value, depth) => {
    const type = typeof value;
    if (type === 'function' || type === 'symbol') return '';
    return key.length + ':' + key + write(value, depth + 1);
  };
  return { write, form, binaryText };
})
