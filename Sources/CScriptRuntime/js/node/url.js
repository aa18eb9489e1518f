// `require("url")`: `URL`, `URLSearchParams`, and node's older `parse`, `format`, `resolve`.
(function (rt) {
  'use strict';
  const querystring = rt.load('require')('querystring', '');
  const ports = { 'http:': '80', 'https:': '443', 'ftp:': '21', 'ws:': '80', 'wss:': '443' };
  const invalid = (text) => {
    const error = new TypeError('Invalid URL: ' + text);
    error.code = 'ERR_INVALID_URL';
    return error;
  };
  const encode = (text, pattern) => text.replace(pattern, (mark) => encodeURIComponent(mark));
  const form = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g,
    (mark) => '%' + mark.charCodeAt(0).toString(16).toUpperCase());

  class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(init = '', changed = undefined) {
      this.#changed = changed;
      if (typeof init === 'string') {
        for (const part of init.replace(/^\?/, '').split('&')) {
          if (part === '') continue;
          const at = part.indexOf('=');
          const read = (text) => querystring.unescape(text.replaceAll('+', ' '));
          this.#pairs.push(at < 0 ? [read(part), ''] : [read(part.slice(0, at)), read(part.slice(at + 1))]);
        }
      } else if (typeof init[Symbol.iterator] === 'function') {
        for (const [name, value] of init) this.#pairs.push(['' + name, '' + value]);
      } else for (const name of Object.keys(init)) this.#pairs.push([name, '' + init[name]]);
    }
    #tell() { this.#changed?.(this.toString()); }
    append(name, value) { this.#pairs.push(['' + name, '' + value]); this.#tell(); }
    delete(name) { this.#pairs = this.#pairs.filter((pair) => pair[0] !== name); this.#tell(); }
    get(name) { return this.#pairs.find((pair) => pair[0] === name)?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]); }
    has(name) { return this.#pairs.some((pair) => pair[0] === name); }
    set(name, value) {
      const first = this.#pairs.find((pair) => pair[0] === name);
      if (first === undefined) return this.append(name, value);
      first[1] = '' + value;
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== name);
      this.#tell();
    }
    sort() {
      this.#pairs.sort((left, right) => (left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0));
      this.#tell();
    }
    forEach(body, self) { for (const [name, value] of this.#pairs) Reflect.apply(body, self, [value, name, this]); }
    * entries() { for (const pair of this.#pairs) yield [...pair]; }
    * keys() { for (const pair of this.#pairs) yield pair[0]; }
    * values() { for (const pair of this.#pairs) yield pair[1]; }
    [Symbol.iterator]() { return this.entries(); }
    get size() { return this.#pairs.length; }
    toString() { return this.#pairs.map(([name, value]) => form(name) + '=' + form(value)).join('&'); }
  }

  const dots = (path) => {
    const out = [];
    const parts = path.split('/');
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      if (part === '..') {
        if (out.length > 1) out.pop();
        if (isLast) out.push('');
      } else if (part === '.') {
        if (isLast) out.push('');
      } else out.push(part);
    }
    return out.join('/');
  };
  const whole = /^([A-Za-z][A-Za-z0-9+.-]*:)(?:\/\/([^/?#\\]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s;

  class URL {
    #parts;
    #params;
    constructor(text, base = undefined) {
      text = ('' + text).trim();
      let match = whole.exec(text);
      if (match === null) {
        if (base === undefined) throw invalid(text);
        const from = new URL(base);
        const [, path, search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text);
        let target;
        if (path.startsWith('//')) return new URL(from.protocol + text);
        if (path === '') target = from.pathname + (search === '' ? from.search : search);
        else if (path[0] === '/') target = path + search;
        else target = from.pathname.replace(/[^/]*$/, '') + path + search;
        match = whole.exec(from.#root() + target + hash);
      }
      const protocol = match[1].toLowerCase();
      const isWeb = protocol in ports;
      if (isWeb && (match[2] ?? '') === '') throw invalid(text);
      const authority = /^(?:([^:@]*)(?::([^@]*))?@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(match[2] ?? '');
      if (authority === null || +(authority[4] ?? 0) > 65535) throw invalid(text);
      const [, username = '', password = '', hostname, port = ''] = authority;
      if (isWeb && (hostname === '' || /[\s<>^`{|}%\\]/.test(hostname))) throw invalid(text);
      let pathname = encode(match[3], /[\s"<>`{}\u0080-\uffff]+/g);
      if (isWeb) pathname = dots(pathname === '' ? '/' : pathname.replaceAll('\\', '/'));
      this.#parts = {
        protocol, username, password, hostname: isWeb ? hostname.toLowerCase() : hostname,
        port: port === ports[protocol] ? '' : port, pathname, hasAuthority: match[2] !== undefined,
        search: match[4] === undefined || match[4] === '?' ? '' : encode(match[4], /[\s"<>\u0080-\uffff]+/g),
        hash: match[5] === undefined || match[5] === '#' ? '' : encode(match[5], /[\s"<>`\u0080-\uffff]+/g),
      };
    }
    #root() {
      const { protocol, username, password, hasAuthority } = this.#parts;
      const user = username === '' && password === '' ? '' : username + (password === '' ? '' : ':' + password) + '@';
      return protocol + (hasAuthority ? '//' + user + this.host : '');
    }
    get href() { return this.#root() + this.#parts.pathname + this.#parts.search + this.#parts.hash; }
    set href(text) {
      this.#parts = new URL(text).#parts;
      this.#params = undefined;
    }
    get origin() { return this.protocol in ports ? this.protocol + '//' + this.host : 'null'; }
    get protocol() { return this.#parts.protocol; }
    set protocol(text) { this.#parts.protocol = ('' + text).replace(/:?$/, ':').toLowerCase(); }
    get username() { return this.#parts.username; }
    set username(text) { this.#parts.username = encodeURIComponent(text); }
    get password() { return this.#parts.password; }
    set password(text) { this.#parts.password = encodeURIComponent(text); }
    get host() { return this.hostname + (this.port === '' ? '' : ':' + this.port); }
    set host(text) { [this.hostname, this.port = ''] = ('' + text).split(':'); }
    get hostname() { return this.#parts.hostname; }
    set hostname(text) { this.#parts.hostname = '' + text; }
    get port() { return this.#parts.port; }
    set port(text) { this.#parts.port = '' + text === ports[this.protocol] ? '' : '' + text; }
    get pathname() { return this.#parts.pathname; }
    set pathname(text) { this.#parts.pathname = encode(('' + text).replace(/^(?!\/)/, '/'), /[\s"<>`?#{}\u0080-\uffff]+/g); }
    get search() { return this.#parts.search; }
    set search(text) {
      this.#parts.search = text === '' ? '' : ('' + text).replace(/^(?!\?)/, '?');
      this.#params = undefined;
    }
    get hash() { return this.#parts.hash; }
    set hash(text) { this.#parts.hash = text === '' ? '' : ('' + text).replace(/^(?!#)/, '#'); }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.#parts.search, (text) => {
        this.#parts.search = text === '' ? '' : '?' + text;
      });
      return this.#params;
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
    static canParse(text, base) {
      try {
        return new URL(text, base) instanceof URL;
      } catch {
        return false;
      }
    }
  }

  const pattern = /^([A-Za-z][A-Za-z0-9+.-]*:)?(\/\/)?(?:([^@/?#]*)@)?([^:/?#]*)(?::(\d+))?([^?#]*)(\?[^#]*)?(#.*)?$/s;
  const parse = (text, readsQuery = false) => {
    let [, protocol = null, slashes, auth = null, hostname = '', port = null, pathname, search = null, hash = null] =
      pattern.exec(text) ?? [];
    if (slashes === undefined && protocol === null) {
      [, pathname, search = null, hash = null] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text);
      [auth, hostname, port] = [null, null, null];
    }
    if (protocol !== null && protocol in ports && pathname === '') pathname = '/';
    const query = search === null ? null : search.slice(1);
    const host = hostname === null ? null : hostname + (port === null ? '' : ':' + port);
    return {
      protocol, slashes: slashes === undefined ? null : true, auth, host, port, hostname, hash,
      search: search ?? (readsQuery ? '' : null), query: readsQuery ? querystring.parse(query ?? '') : query,
      pathname: pathname === '' ? null : pathname, path: (pathname ?? '') + (search ?? '') || null, href: text,
    };
  };
  const format = (parts) => {
    if (parts instanceof URL) return parts.href;
    if (typeof parts === 'string') return parse(parts).href;
    const protocol = parts.protocol ? parts.protocol.replace(/:?$/, ':') : '';
    const host = parts.host ?? (parts.hostname ? parts.hostname + (parts.port ? ':' + parts.port : '') : '');
    const query = parts.query !== null && typeof parts.query === 'object'
      ? querystring.stringify(parts.query) : parts.query ?? '';
    const search = parts.search ?? (query === '' ? '' : '?' + query);
    const slashes = parts.slashes || protocol in ports ? '//' : '';
    const path = parts.pathname ?? '';
    return protocol + (host === '' ? '' : slashes + (parts.auth ? parts.auth + '@' : '') + host) +
      (host !== '' && path !== '' && path[0] !== '/' ? '/' : '') + path + search + (parts.hash ?? '');
  };
  const hasHost = (text) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(text);
  const resolve = (from, to) => {
    // A path against a path stays one; the host that stands in for theirs is taken away again.
    const url = new URL(to, new URL(from, 'http://nowhere.invalid'));
    return hasHost(from) || hasHost(to) ? url.href : url.pathname + url.search + url.hash;
  };
  return { URL, URLSearchParams, parse, format, resolve, fileURLToPath: (url) => new URL(url).pathname };
})
