// `require("string_decoder")`: text from bytes that come in pieces.
(function (rt) {
  'use strict';
  const { Buffer } = rt.load('require')('buffer', '');
  /** How many bytes at the end begin a character that is not complete. */
  const unfinished = (bytes, encoding) => {
    if (encoding === 'base64') return bytes.length % 3;
    if (encoding === 'utf16le') return bytes.length % 2;
    if (encoding !== 'utf8') return 0;
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const byte = bytes[bytes.length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? back : 0;
    }
    return 0;
  };
  class StringDecoder {
    constructor(encoding = 'utf8') {
      const lower = ('' + encoding).toLowerCase();
      this.encoding = { 'utf-8': 'utf8', 'ucs2': 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le' }[lower] ?? lower;
      if (!Buffer.isEncoding(this.encoding)) throw new TypeError('Unknown encoding: ' + encoding);
      this.rest = Buffer.alloc(0);
    }
    write(piece) {
      if (typeof piece === 'string') return piece;
      const bytes = Buffer.concat([this.rest, Buffer.from(piece)]);
      const kept = unfinished(bytes, this.encoding);
      this.rest = bytes.slice(bytes.length - kept);
      return bytes.slice(0, bytes.length - kept).toString(this.encoding);
    }
    end(piece) {
      const text = piece === undefined ? '' : this.write(piece);
      const last = this.rest.toString(this.encoding);
      this.rest = Buffer.alloc(0);
      return text + last;
    }
  }
  return { StringDecoder };
})
