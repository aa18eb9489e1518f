// The ciphers of `require("crypto")`: AES with keys of 128, 192 and 256 bits as CBC, CTR and GCM.
//
// CBC and CTR give what is ready with each update; GCM gives all of it with `final`, so that nothing is shown that
// its tag has not been checked for.
(function (rt) {
  'use strict';
  const { Buffer } = rt.load('require')('buffer', '');
  const native = rt.group('crypto');
  const form = /^aes-?(128|192|256)-(cbc|ctr|gcm)$/;
  const block = 16;
  const getCiphers = () =>
    ['128', '192', '256'].flatMap((bits) => ['cbc', 'ctr', 'gcm'].map((mode) => 'aes-' + bits + '-' + mode));
  const plain = (data, encoding, what) => {
    const buffer = typeof data === 'string' ? Buffer.from(data, encoding) : data;
    if (!ArrayBuffer.isView(buffer)) throw new TypeError('The "' + what + '" argument must be a string or a buffer');
    return Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  };
  const bytes = (buffer) => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const advance = (counter, blocks) => {
    for (let index = block - 1, carry = blocks; index >= 0 && carry > 0; index -= 1) {
      const sum = counter[index] + (carry % 256);
      counter[index] = sum % 256;
      carry = Math.floor(carry / 256) + Math.floor(sum / 256);
    }
  };

  // Each way of working keeps what it needs between two pieces: take(piece) → bytes, end() → bytes.
  const cbc = (seals, key, vector, options) => {
    let iv = vector;
    let rest = Buffer.alloc(0);
    const run = (part, pads) => {
      const out = Buffer.from(native.cbc(bytes(part), key, bytes(iv), seals, pads));
      iv = Buffer.from((seals ? out : part).subarray(-block));
      return out;
    };
    return {
      take: (piece) => {
        rest = Buffer.concat([rest, piece]);
        // What takes the padding off must see the last block.
        const held = !seals && options.pads && rest.length % block === 0 ? block : rest.length % block;
        const ready = Math.max(0, rest.length - held);
        if (ready === 0) return Buffer.alloc(0);
        const part = rest.subarray(0, ready);
        rest = rest.subarray(ready);
        return run(part, false);
      },
      end: () => {
        if (!options.pads) {
          if (rest.length > 0) throw new Error('wrong final block length');
          return Buffer.alloc(0);
        }
        if (!seals && rest.length !== block) throw new Error('wrong final block length');
        return run(rest, true);
      },
    };
  };
  const ctr = (seals, key, vector) => {
    const counter = Buffer.from(vector);
    let rest = Buffer.alloc(0);
    return {
      take: (piece) => {
        const all = Buffer.concat([rest, piece]);
        const out = Buffer.from(native.ctr(bytes(all), key, bytes(counter))).subarray(rest.length);
        const whole = Math.floor(all.length / block);
        advance(counter, whole);
        rest = all.subarray(whole * block);
        return out;
      },
      end: () => Buffer.alloc(0),
    };
  };
  const gcm = (seals, key, vector, options) => {
    const pieces = [];
    return {
      take: (piece) => {
        pieces.push(piece);
        return Buffer.alloc(0);
      },
      end: () => {
        const all = Buffer.concat(pieces);
        const header = bytes(options.header);
        if (seals) {
          const sealed = Buffer.from(native.gcmSeal(bytes(all), key, bytes(vector), header));
          options.tag = sealed.subarray(-block);
          return sealed.subarray(0, -block);
        }
        if (options.tag === undefined) throw new Error('Unsupported state or unable to authenticate data');
        const sealed = Buffer.concat([all, options.tag]);
        return Buffer.from(native.gcmOpen(bytes(sealed), key, bytes(vector), header));
      },
    };
  };

  class Cipher {
    #seals;
    #mode;
    #work;
    #isOver = false;
    #hasBegun = false;
    #options = { pads: true, header: Buffer.alloc(0), tag: undefined };
    constructor(seals, name, key, iv, options) {
      const parts = ('' + name).toLowerCase().match(form);
      if (parts === null) {
        throw new Error('the cipher "' + name + '" is not supported: use one of ' + getCiphers().join(', '));
      }
      const secret = Buffer.from(plain(key, 'utf8', 'key'));
      if (secret.length * 8 !== +parts[1]) throw new RangeError('Invalid key length');
      const vector = iv === null ? Buffer.alloc(0) : Buffer.from(plain(iv, 'utf8', 'iv'));
      if (parts[2] === 'gcm' ? vector.length < 12 : vector.length !== block) {
        throw new TypeError('Invalid initialization vector');
      }
      const length = options === undefined || options === null ? undefined : options.authTagLength;
      if (length !== undefined && length !== block) throw new TypeError('Invalid authentication tag length: ' + length);
      this.#seals = seals;
      this.#mode = parts[2];
      this.#work = { cbc, ctr, gcm }[parts[2]](seals, bytes(secret), vector, this.#options);
    }
    #open(what) {
      if (this.#isOver) throw new Error('Unsupported state: ' + what + ' behind final');
    }
    #of(mode, what) {
      if (this.#mode !== mode) throw new Error(what + ' is for ' + mode.toUpperCase() + ' alone');
    }
    #shown(buffer, encoding) {
      return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
    }
    update(data, inputEncoding, outputEncoding) {
      this.#open('update');
      this.#hasBegun = true;
      const piece = Buffer.from(plain(data, inputEncoding, 'data'));
      return this.#shown(this.#work.take(piece), outputEncoding);
    }
    final(outputEncoding) {
      this.#open('final');
      this.#isOver = true;
      return this.#shown(this.#work.end(), outputEncoding);
    }
    setAutoPadding(pads = true) {
      this.#open('setAutoPadding');
      this.#options.pads = !!pads;
      return this;
    }
    setAAD(data, options) {
      this.#open('setAAD');
      this.#of('gcm', 'setAAD');
      if (this.#hasBegun) throw new Error('Unsupported state: setAAD behind update');
      const encoding = options === undefined || options === null ? undefined : options.encoding;
      this.#options.header = Buffer.concat([this.#options.header, plain(data, encoding, 'buffer')]);
      return this;
    }
    getAuthTag() {
      this.#of('gcm', 'getAuthTag');
      if (!this.#seals || !this.#isOver) throw new Error('Unsupported state: the tag is there behind final');
      return Buffer.from(this.#options.tag);
    }
    setAuthTag(tag, encoding) {
      this.#open('setAuthTag');
      this.#of('gcm', 'setAuthTag');
      if (this.#seals) throw new Error('Unsupported state: setAuthTag is for deciphering');
      const given = Buffer.from(plain(tag, encoding, 'tag'));
      if (given.length !== block) throw new TypeError('Invalid authentication tag length: ' + given.length);
      this.#options.tag = given;
      return this;
    }
  }

  return {
    createCipheriv: (name, key, iv, options) => new Cipher(true, name, key, iv, options),
    createDecipheriv: (name, key, iv, options) => new Cipher(false, name, key, iv, options),
    getCiphers,
  };
})
