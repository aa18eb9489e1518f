// `require("util")`.
(function (rt) {
  'use strict';
  const isObject = (value) => value !== null && typeof value === 'object';
  const custom = Symbol.for('nodejs.util.inspect.custom');
  const promisified = Symbol.for('nodejs.util.promisify.custom');
  const quoted = (text) => "'" + JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'") + "'";

  const inspect = (value, options = {}) => {
    const deepest = options?.depth === null ? Infinity : options?.depth ?? 2;
    const seen = [];
    const name = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key));
    const show = (it, depth) => {
      switch (typeof it) {
      case 'string': return quoted(it);
      case 'bigint': return it + 'n';
      case 'number': return Object.is(it, -0) ? '-0' : '' + it;
      case 'function': return '[Function' + (it.name === '' ? ' (anonymous)' : ': ' + it.name) + ']';
      case 'symbol': return it.toString();
      case 'object': break;
      default: return '' + it;
      }
      if (it === null) return 'null';
      if (seen.includes(it)) return '[Circular]';
      if (typeof it[custom] === 'function') return '' + it[custom](deepest - depth, options);
      if (it instanceof Date) return Number.isNaN(it.getTime()) ? 'Invalid Date' : it.toISOString();
      if (it instanceof RegExp) return it.toString();
      if (it instanceof Error) return it.stack === undefined ? '' + it : it + '\n' + it.stack;
      if (it._bsontype !== undefined) return it._bsontype + '(' + it + ')';
      if (ArrayBuffer.isView(it) && typeof it.inspect === 'function') return it.inspect();
      if (depth > deepest) return Array.isArray(it) ? '[Array]' : '[Object]';
      seen.push(it);
      let out;
      if (Array.isArray(it) || ArrayBuffer.isView(it)) {
        const parts = Array.from(it, (one) => show(one, depth + 1));
        out = parts.length === 0 ? '[]' : '[ ' + parts.join(', ') + ' ]';
      } else if (it instanceof Map) {
        const parts = [...it].map(([key, one]) => show(key, depth + 1) + ' => ' + show(one, depth + 1));
        out = 'Map {' + (parts.length === 0 ? '}' : ' ' + parts.join(', ') + ' }');
      } else if (it instanceof Set) {
        const parts = [...it].map((one) => show(one, depth + 1));
        out = 'Set {' + (parts.length === 0 ? '}' : ' ' + parts.join(', ') + ' }');
      } else {
        const type = it.constructor?.name;
        const parts = Object.keys(it).map((key) => name(key) + ': ' + show(it[key], depth + 1));
        const prefix = type === undefined ? '[Object: null prototype] ' : type === 'Object' ? '' : type + ' ';
        out = prefix + (parts.length === 0 ? '{}' : '{ ' + parts.join(', ') + ' }');
      }
      seen.pop();
      return out;
    };
    return show(value, 0);
  };
  inspect.custom = custom;

  const shown = (value) => (typeof value === 'string' ? value : inspect(value));
  const format = (first, ...rest) => {
    if (typeof first !== 'string') return [first, ...rest].map(shown).join(' ');
    let at = 0;
    const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === '%%') return '%';
      if (at >= rest.length) return mark;
      const value = rest[at++];
      switch (mark) {
      case '%s': return typeof value === 'object' ? inspect(value, { depth: 0 }) : '' + value;
      case '%d': return '' + Number(value);
      case '%i': return '' + parseInt(value, 10);
      case '%f': return '' + parseFloat(value);
      case '%j': return JSON.stringify(value);
      case '%c': return '';
      default: return inspect(value);
      }
    });
    return [text, ...rest.slice(at).map(shown)].join(' ');
  };

  const promisify = (callee) => {
    if (typeof callee !== 'function') throw new TypeError('The "original" argument must be a function');
    if (typeof callee[promisified] === 'function') return callee[promisified];
    return function (...args) {
      return new Promise((resolve, reject) => {
        Reflect.apply(callee, this, [...args, (error, value) => (error ? reject(error) : resolve(value))]);
      });
    };
  };
  promisify.custom = promisified;
  const callbackify = (callee) => function (...args) {
    const callback = args.pop();
    Reflect.apply(callee, this, args).then((value) => callback(null, value), (error) => callback(error));
  };
  const inherits = (type, parent) => {
    type.super_ = parent;
    Object.setPrototypeOf(type.prototype, parent.prototype);
  };
  const deprecate = (callee) => callee;
  const same = (left, right) => rt.load('equality').deep(left, right, true);
  const types = {
    isDate: (value) => value instanceof Date,
    isRegExp: (value) => value instanceof RegExp,
    isPromise: (value) => value instanceof Promise,
    isMap: (value) => value instanceof Map,
    isSet: (value) => value instanceof Set,
    isNativeError: (value) => value instanceof Error,
    isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
    isUint8Array: (value) => value instanceof Uint8Array,
    isArrayBuffer: (value) => value instanceof ArrayBuffer,
    isAnyArrayBuffer: (value) => value instanceof ArrayBuffer,
    isAsyncFunction: (value) => Object.prototype.toString.call(value) === '[object AsyncFunction]',
    isGeneratorFunction: (value) => Object.prototype.toString.call(value) === '[object GeneratorFunction]',
  };
  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return rt.native.utf8('' + text); }
  }
  class TextDecoder {
    get encoding() { return 'utf-8'; }
    decode(bytes = new Uint8Array(0)) {
      const view = ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
      return rt.native.text(view);
    }
  }
  return {
    inspect, format, promisify, callbackify, inherits, deprecate, types, TextEncoder, TextDecoder,
    isDeepStrictEqual: same, debuglog: () => () => undefined,
    isArray: Array.isArray, isObject, isString: (value) => typeof value === 'string',
    isNumber: (value) => typeof value === 'number', isBoolean: (value) => typeof value === 'boolean',
    isFunction: (value) => typeof value === 'function', isUndefined: (value) => value === undefined,
    isNull: (value) => value === null, isNullOrUndefined: (value) => value === null || value === undefined,
    isSymbol: (value) => typeof value === 'symbol', isDate: types.isDate, isRegExp: types.isRegExp,
    isError: types.isNativeError, isPrimitive: (value) => !isObject(value) && typeof value !== 'function',
    isBuffer: (value) => rt.load('require')('buffer', '').Buffer.isBuffer(value),
  };
})
