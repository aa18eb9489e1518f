// `require("zlib")`: at once, and with callbacks; without streams.
(function (rt) {
  'use strict';
  const { Buffer } = rt.load('require')('buffer', '');
  const zlib = rt.group('zlib');
  const plain = (data) => {
    const buffer = typeof data === 'string' ? Buffer.from(data) : data;
    if (buffer !== null && typeof buffer === 'object' && buffer._bsontype === 'Binary') return buffer.buffer;
    if (!ArrayBuffer.isView(buffer)) throw new TypeError('The "buffer" argument must be a string or a buffer');
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  };
  const pack = (windowBits) => (data, options) =>
    Buffer.from(zlib.deflate(plain(data), windowBits, options?.level ?? -1));
  const unpack = (windowBits) => (data) => Buffer.from(zlib.inflate(plain(data), windowBits));
  // Positive window: with zlib's header; plus 16: gzip's; negative: none; 47: what is there.
  const sync = {
    gzip: pack(31), gunzip: unpack(31), deflate: pack(15), inflate: unpack(15), deflateRaw: pack(-15),
    inflateRaw: unpack(-15), unzip: unpack(47),
  };
  const out = {};
  for (const name of Object.keys(sync)) {
    out[name + 'Sync'] = sync[name];
    out[name] = (data, options, callback = options) => {
      let result;
      let fault = null;
      try {
        result = sync[name](data, typeof options === 'object' ? options : undefined);
      } catch (error) {
        fault = error;
      }
      setImmediate(() => callback(fault, result));
    };
  }
  out.crc32 = (data) => zlib.crc32(plain(data));
  out.constants = {
    Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1,
  };
  return Object.assign(out, out.constants);
})
