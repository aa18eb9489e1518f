// `require("crypto")`: digests, authentication codes, random bytes, comparison, keys from passwords; ciphers
// and signatures are files of their own.
(function (rt) {
  'use strict';
  const { Buffer } = rt.load('require')('buffer', '');
  const crypto = rt.group('crypto');
  const plain = (data, encoding) => {
    const buffer = typeof data === 'string' ? Buffer.from(data, encoding) : data;
    if (!ArrayBuffer.isView(buffer)) throw new TypeError('The "data" argument must be a string or a buffer');
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  };
  const names = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
  const digestName = (name) => {
    const known = ('' + name).toLowerCase().replace('-', '');
    if (!names.includes(known)) throw new Error('Digest method not supported');
    return known;
  };
  const shown = (bytes, encoding) => {
    const buffer = Buffer.from(bytes);
    return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
  };
  class Digest {
    #pieces = [];
    #finish;
    constructor(finish) { this.#finish = finish; }
    update(data, encoding) {
      if (this.#finish === undefined) throw new Error('Digest already called');
      this.#pieces.push(Buffer.from(plain(data, encoding)));
      return this;
    }
    digest(encoding) {
      if (this.#finish === undefined) throw new Error('Digest already called');
      const bytes = this.#finish(plain(Buffer.concat(this.#pieces)));
      this.#finish = undefined;
      return shown(bytes, encoding);
    }
  }
  const random = (size) => Buffer.from(crypto.random(size));
  const uniform = (low, high) => {
    const range = high - low;
    if (!(range > 0 && range <= 2 ** 32)) throw new RangeError('The range must be from 1 to 2^32');
    // Numbers past the last whole multiple of the range would favour some results.
    const end = Math.floor(2 ** 32 / range) * range;
    while (true) {
      const number = random(4).readUInt32BE(0);
      if (number < end) return low + (number % range);
    }
  };
  /** A key from a password; rounds and sizes are checked by what makes it. */
  const derived = (make, callback) => {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be a function');
    let bytes;
    let error = null;
    try {
      bytes = make();
    } catch (thrown) {
      error = thrown;
    }
    setImmediate(() => callback(error, bytes));
  };
  const pbkdf2Sync = (password, salt, rounds, size, name) =>
    Buffer.from(crypto.pbkdf2(digestName(name), plain(password), plain(salt), rounds, size));
  const scryptSync = (password, salt, size, options = {}) => {
    const cost = options.N ?? options.cost ?? 16384;
    const blockSize = options.r ?? options.blockSize ?? 8;
    const parallelism = options.p ?? options.parallelization ?? 1;
    return Buffer.from(crypto.scrypt(plain(password), plain(salt), size, cost, blockSize, parallelism));
  };
  const refused = (name, instead) => () => {
    throw new Error('crypto.' + name + ' is not supported' + (instead === undefined ? '' : ': use ' + instead));
  };
  const missing = {
    createCipher: 'createCipheriv', createDecipher: 'createDecipheriv', publicEncrypt: undefined,
    privateDecrypt: undefined, privateEncrypt: undefined, publicDecrypt: undefined, generateKeyPair: undefined,
    generateKeyPairSync: undefined, createDiffieHellman: undefined, createDiffieHellmanGroup: undefined,
    createECDH: undefined,
  };
  const shim = {
    createHash: (name) => {
      const known = digestName(name);
      return new Digest((bytes) => crypto.digest(known, bytes));
    },
    createHmac: (name, key) => {
      const known = digestName(name);
      const secret = plain(key);
      return new Digest((bytes) => crypto.hmac(known, bytes, secret));
    },
    getHashes: () => [...names],
    randomBytes: (size, callback) => {
      const bytes = random(size);
      if (callback === undefined) return bytes;
      setImmediate(() => callback(null, bytes));
      return undefined;
    },
    randomUUID: () => {
      const bytes = random(16);
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
    randomInt: (low, high) => (high === undefined ? uniform(0, low) : uniform(low, high)),
    timingSafeEqual: (left, right) => crypto.isSame(plain(left), plain(right)),
    pbkdf2Sync,
    pbkdf2: (password, salt, rounds, size, name, callback) =>
      derived(() => pbkdf2Sync(password, salt, rounds, size, name), callback),
    scryptSync,
    scrypt: (password, salt, size, options, callback) =>
      callback === undefined
        ? derived(() => scryptSync(password, salt, size), options)
        : derived(() => scryptSync(password, salt, size, options), callback),
  };
  for (const name of ['createCipheriv', 'createDecipheriv', 'getCiphers']) {
    shim[name] = (...args) => rt.load('ciphers')[name](...args);
  }
  for (const name of ['createSign', 'createVerify', 'sign', 'verify']) {
    shim[name] = (...args) => rt.load('signatures')[name](...args);
  }
  rt.lazy(shim, 'constants', true, () => ({ ...rt.load('signatures').constants }));
  for (const name in missing) shim[name] = refused(name, missing[name]);
  return shim;
})
