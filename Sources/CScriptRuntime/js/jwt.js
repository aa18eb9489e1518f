// `utils.jwt`: JSON web tokens.
(function (rt) {
  'use strict';
  const { native } = rt;
  const tokens = rt.group('tokens');
  const { TypeError, Error } = rt.primordials;
  const { parse, stringify } = JSON;
  const url = (text) => text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const encoded = (value) => url(native.base64(native.utf8(value)));
  const decoded = (part) => {
    const data = native.fromBase64(part);
    if (data === undefined) throw new Error('the token is malformed');
    return data;
  };
  const methods = /^(HS|RS|PS|ES)(256|384|512)$/;

  return {
    encode: (method, payload, secret, fields) => {
      if (typeof method !== 'string' || !methods.test(method)) {
        throw new TypeError("signing method '" + method + "' is not supported");
      }
      if (payload === null || typeof payload !== 'object') throw new TypeError('the payload must be a document');
      const header = { alg: method, typ: 'JWT', ...(fields ?? {}) };
      const signed = encoded(stringify(header)) + '.' + encoded(stringify(payload));
      return signed + '.' + url(native.base64(tokens.jwtSign(method, native.utf8(signed), '' + secret)));
    },
    decode: (token, key, returnHeader = false, accepted) => {
      const parts = ('' + token).split('.');
      if (parts.length !== 3) throw new Error('the token is malformed');
      let header;
      try {
        header = parse(native.text(decoded(parts[0])));
      } catch {
        throw new Error('the token is malformed');
      }
      const method = header.alg;
      if (typeof method !== 'string' || !methods.test(method)) throw new Error('the signing method is not supported');
      if (accepted !== undefined && accepted !== null) {
        if (!Array.isArray(accepted) || !accepted.includes(method)) {
          throw new Error('signing method ' + method + ' is not accepted');
        }
      } else if (method[0] === 'H' && ('' + key).includes('-----BEGIN')) {
        // A public key is no secret: whoever has it could have signed.
        throw new Error('signing method ' + method + ' does not go with a public key');
      }
      const signed = native.utf8(parts[0] + '.' + parts[1]);
      if (!tokens.jwtVerify(method, signed, '' + key, decoded(parts[2]))) throw new Error('signature is invalid');
      const payload = parse(native.text(decoded(parts[1])));
      const now = Date.now() / 1000;
      if (payload.exp !== undefined && now >= +payload.exp) throw new Error('token is expired');
      if (payload.nbf !== undefined && now < +payload.nbf) throw new Error('token is not valid yet');
      return returnHeader ? { header, payload } : payload;
    },
  };
})
