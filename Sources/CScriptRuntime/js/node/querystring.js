// `require("querystring")`.
(function () {
  'use strict';
  const escape = (text) => encodeURIComponent(text);
  const unescape = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const plain = (value) => (
    typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' ||
      (typeof value === 'number' && Number.isFinite(value)) ? '' + value : '');
  const stringify = (object, separator = '&', equals = '=', options = {}) => {
    const encode = options?.encodeURIComponent ?? querystring.escape;
    const out = [];
    for (const key of Object.keys(object ?? {})) {
      const values = Array.isArray(object[key]) ? object[key] : [object[key]];
      for (const value of values) out.push(encode(key) + equals + encode(plain(value)));
    }
    return out.join(separator);
  };
  const parse = (text, separator = '&', equals = '=', options = {}) => {
    const decode = options?.decodeURIComponent ?? querystring.unescape;
    const most = options?.maxKeys ?? 1000;
    const out = Object.create(null);
    if (typeof text !== 'string' || text === '') return out;
    let parts = text.split(separator);
    if (most > 0) parts = parts.slice(0, most);
    for (const part of parts) {
      if (part === '') continue;
      const at = part.indexOf(equals);
      const key = decode((at < 0 ? part : part.slice(0, at)).replaceAll('+', ' '));
      const value = at < 0 ? '' : decode(part.slice(at + equals.length).replaceAll('+', ' '));
      if (!(key in out)) out[key] = value;
      else if (Array.isArray(out[key])) out[key].push(value);
      else out[key] = [out[key], value];
    }
    return out;
  };
  const querystring = { stringify, parse, escape, unescape, encode: stringify, decode: parse };
  return querystring;
})
