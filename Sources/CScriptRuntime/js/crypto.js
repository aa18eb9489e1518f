// `utils.crypto`.
(function (rt) {
  'use strict';
  const { native } = rt;
  const crypto = rt.group('crypto');
  const { TypeError } = rt.primordials;
  const { BSON, bytes } = rt.load('bson');
  const data = (value, what) => (typeof value === 'string' ? native.utf8(value) : bytes(value, what));
  const text = (value, what) => {
    if (typeof value !== 'string') throw new TypeError(what + ' must be a string');
    return value;
  };
  const only = (name, wanted) => {
    if (name !== wanted) throw new TypeError("'" + name + "' is not supported: use '" + wanted + "'");
  };
  const digests = { __proto__: null, sha1: 1, sha256: 1, sha512: 1, md5: 1 };
  const digest = (name, allowed) => {
    if (!(name in digests) || !allowed.includes(name)) {
      throw new TypeError("'" + name + "' is not supported: use one of " + allowed.join(', '));
    }
    return name;
  };
  return {
    encrypt: (kind, message, key) => {
      only(kind, 'aes');
      return new BSON.Binary(crypto.aesSeal(data(message, 'encrypt'), native.utf8(text(key, 'the key'))));
    },
    decrypt: (kind, sealed, key) => {
      only(kind, 'aes');
      return new BSON.Binary(crypto.aesOpen(data(sealed, 'decrypt'), native.utf8(text(key, 'the key'))));
    },
    sign: (kind, message, key, scheme = 'pss') => {
      only(kind, 'rsa');
      return new BSON.Binary(crypto.rsaSign(data(message, 'sign'), text(key, 'the key'), text(scheme, 'the scheme')));
    },
    verify: (kind, message, key, signature, scheme = 'pss') => {
      only(kind, 'rsa');
      return crypto.rsaVerify(
        data(message, 'verify'), text(key, 'the key'), bytes(signature, 'verify'), text(scheme, 'the scheme'));
    },
    hmac: (input, secret, name, encoding) => {
      const out = crypto.hmac(
        digest(name, ['sha1', 'sha256', 'sha512']), data(input, 'hmac'), data(secret, 'hmac'));
      if (encoding === 'hex') return native.hex(out);
      if (encoding === 'base64') return native.base64(out);
      throw new TypeError("the encoding must be 'hex' or 'base64'");
    },
    hash: (name, input) =>
      new BSON.Binary(crypto.digest(digest(name, ['sha1', 'sha256', 'md5']), data(input, 'hash'))),
  };
})
