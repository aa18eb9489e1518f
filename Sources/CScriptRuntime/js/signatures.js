// `createSign`, `createVerify`, `sign` and `verify` of `require("crypto")`: RSA and ECDSA with keys written as PEM.
//
// PSS signs with a salt as long as the digest, the only length that it verifies; whoever verifies has to say so, since
// node by itself finds out the length, and signs with the longest.
(function (rt) {
  'use strict';
  const { Buffer } = rt.load('require')('buffer', '');
  const native = rt.group('signatures');
  const constants = {
    RSA_PKCS1_PADDING: 1, RSA_PKCS1_PSS_PADDING: 6, RSA_PSS_SALTLEN_DIGEST: -1, RSA_PSS_SALTLEN_MAX_SIGN: -2,
    RSA_PSS_SALTLEN_AUTO: -2,
  };
  const sizes = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
  const plain = (data, encoding, what) => {
    const buffer = typeof data === 'string' ? Buffer.from(data, encoding) : data;
    if (!ArrayBuffer.isView(buffer)) throw new TypeError('The "' + what + '" argument must be a string or a buffer');
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  };
  /** `RSA-SHA256`, `sha256WithRSAEncryption` and `SHA-256` are all `sha256`. */
  const digestName = (name) => {
    const known = ('' + name).toLowerCase().replace(/^(rsa|ecdsa)-/, '').replace(/withrsaencryption$/, '').replace('-', '');
    if (sizes[known] === undefined) throw new Error('Invalid digest: ' + name);
    return known;
  };
  /** The PEM text of a key, and how its signatures are made. */
  const keyOf = (key, digest, verifies) => {
    const isOptions = key !== null && typeof key === 'object' && !ArrayBuffer.isView(key);
    const options = isOptions ? key : {};
    const given = isOptions ? options.key : key;
    if (typeof given !== 'string' && !ArrayBuffer.isView(given)) {
      throw new TypeError('The "key" argument must be a string or a buffer that holds PEM');
    }
    if (options.passphrase !== undefined) throw new Error('keys with a passphrase are not supported');
    const pem = typeof given === 'string' ? given : Buffer.from(plain(given)).toString();
    const { padding, saltLength, dsaEncoding } = options;
    if (dsaEncoding !== undefined && dsaEncoding !== 'der' && dsaEncoding !== 'ieee-p1363') {
      throw new TypeError('The property "dsaEncoding" must be "der" or "ieee-p1363"');
    }
    if (padding === undefined || padding === constants.RSA_PKCS1_PADDING) {
      return { pem, form: dsaEncoding === 'ieee-p1363' ? dsaEncoding : 'pkcs1' };
    }
    if (padding !== constants.RSA_PKCS1_PSS_PADDING) throw new Error('the padding ' + padding + ' is not supported');
    const isDigest = saltLength === constants.RSA_PSS_SALTLEN_DIGEST || saltLength === sizes[digest];
    if (!isDigest && (verifies || saltLength !== undefined)) {
      throw new Error('PSS is supported with saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST alone');
    }
    return { pem, form: 'pss' };
  };
  const signed = (digest, bytes, key) => {
    const { pem, form } = keyOf(key, digest, false);
    return Buffer.from(native.signWith(digest, bytes, pem, form));
  };
  const isSigned = (digest, bytes, key, signature, encoding) => {
    const { pem, form } = keyOf(key, digest, true);
    return native.verifyWith(digest, bytes, pem, form, plain(signature, encoding, 'signature'));
  };

  class Signed {
    #digest;
    #pieces = [];
    #isOver = false;
    constructor(name) { this.#digest = digestName(name); }
    update(data, encoding) {
      if (this.#isOver) throw new Error('Unsupported state: update behind the end');
      this.#pieces.push(Buffer.from(plain(data, encoding, 'data')));
      return this;
    }
    end(work) {
      if (this.#isOver) throw new Error('Unsupported state: it was used already');
      this.#isOver = true;
      return work(this.#digest, plain(Buffer.concat(this.#pieces)));
    }
  }
  class Sign {
    #work;
    constructor(name) { this.#work = new Signed(name); }
    update(data, encoding) {
      this.#work.update(data, encoding);
      return this;
    }
    write(data, encoding) { return this.update(data, encoding) !== undefined; }
    end(data, encoding) { if (data !== undefined) this.update(data, encoding); }
    sign(key, encoding) {
      const bytes = this.#work.end((digest, all) => signed(digest, all, key));
      return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding);
    }
  }
  class Verify {
    #work;
    constructor(name) { this.#work = new Signed(name); }
    update(data, encoding) {
      this.#work.update(data, encoding);
      return this;
    }
    write(data, encoding) { return this.update(data, encoding) !== undefined; }
    end(data, encoding) { if (data !== undefined) this.update(data, encoding); }
    verify(key, signature, encoding) {
      return this.#work.end((digest, all) => isSigned(digest, all, key, signature, encoding));
    }
  }
  return {
    constants,
    createSign: (name) => new Sign(name),
    createVerify: (name) => new Verify(name),
    sign: (name, data, key) => signed(digestName(name), plain(data, undefined, 'data'), key),
    verify: (name, data, key, signature) =>
      isSigned(digestName(name), plain(data, undefined, 'data'), key, signature),
  };
})
