// `context.http`: requests to elsewhere, as the gateway is asked for them.
(function (rt) {
  'use strict';
  const { keys, isArray, TypeError, Uint8Array } = rt.primordials;
  const { native } = rt;
  const known = {
    __proto__: null, url: 1, scheme: 1, host: 1, domain: 1, path: 1, query: 1, fragment: 1, username: 1, password: 1,
    headers: 1, cookies: 1, body: 1, encodeBodyAsJSON: 1, form: 1, digestAuth: 1, authUrl: 1, followRedirects: 1,
  };
  const list = (value) => (isArray(value) ? value : [value]);

  const address = (args) => {
    if (args.url !== undefined && args.url !== null) return '' + args.url;
    const host = args.host ?? args.domain;
    if (typeof host !== 'string' || host === '') throw new TypeError('http: url or host is required');
    let url = (args.scheme ?? 'http') + '://' + host;
    const path = args.path === undefined ? '' : '' + args.path;
    url += path === '' || path[0] === '/' ? path : '/' + path;
    if (args.query !== undefined && args.query !== null) {
      const names = keys(args.query);
      let separator = '?';
      for (let i = 0; i < names.length; i++) {
        const values = list(args.query[names[i]]);
        for (let j = 0; j < values.length; j++) {
          url += separator + encodeURIComponent(names[i]) + '=' + encodeURIComponent('' + values[j]);
          separator = '&';
        }
      }
    }
    return args.fragment === undefined ? url : url + '#' + args.fragment;
  };
  const headers = (args) => {
    const out = {};
    if (args.headers !== undefined && args.headers !== null) {
      const names = keys(args.headers);
      for (let i = 0; i < names.length; i++) {
        const values = list(args.headers[names[i]]);
        out[names[i]] = [];
        for (let j = 0; j < values.length; j++) out[names[i]][j] = '' + values[j];
      }
    }
    if (args.cookies !== undefined && args.cookies !== null) {
      const names = keys(args.cookies);
      let text = '';
      for (let i = 0; i < names.length; i++) text += (i === 0 ? '' : '; ') + names[i] + '=' + args.cookies[names[i]];
      if (text !== '') out.Cookie = [text];
    }
    return out;
  };
  /** The boundary that the caller's content type names. */
  const boundary = (fields) => {
    const names = keys(fields);
    for (let i = 0; i < names.length; i++) {
      if (rt.primordials.lower(names[i]) !== 'content-type') continue;
      const part = rt.primordials.exec(/boundary="?([^";]+)"?/, fields[names[i]][0]);
      if (part !== null) return part[1];
      fields[names[i]] = ['multipart/form-data; boundary=' + made];
      return made;
    }
    fields['Content-Type'] = ['multipart/form-data; boundary=' + made];
    return made;
  };
  const made = 'tidegate' + native.objectID(-1);
  const content = (args, fields) => {
    if (args.form !== undefined && args.form !== null) {
      if (args.body !== undefined) throw new TypeError('http: form and body exclude each other');
      const line = boundary(fields);
      const names = keys(args.form);
      let text = '';
      for (let i = 0; i < names.length; i++) {
        text += '--' + line + '\r\nContent-Disposition: form-data; name="' +
          rt.primordials.replaceAll(names[i], '"', '%22') + '"\r\n\r\n' + args.form[names[i]] + '\r\n';
      }
      return native.utf8(text + '--' + line + '--\r\n');
    }
    if (args.body === undefined || args.body === null) return undefined;
    if (args.encodeBodyAsJSON) return native.utf8(native.ejson(rt.write(args.body), false));
    if (typeof args.body === 'string') return native.utf8(args.body);
    return new Uint8Array(rt.load('bson').bytes(args.body, 'http: body'));
  };

  const request = (method) => async (args) => {
    if (typeof args === 'string') args = { url: args };
    if (args === null || typeof args !== 'object') throw new TypeError('http: the argument must be a document');
    const names = keys(args);
    for (let i = 0; i < names.length; i++) {
      if (known[names[i]] === undefined) throw new TypeError("http: unknown argument '" + names[i] + "'");
    }
    const fields = headers(args);
    const asked = {
      method, url: address(args), headers: fields, followRedirects: args.followRedirects === true,
      digestAuth: args.digestAuth === true,
    };
    const body = content(args, fields);
    if (body !== undefined) asked.body = body;
    if (args.username !== undefined) asked.username = '' + args.username;
    if (args.password !== undefined) asked.password = '' + args.password;
    if (args.authUrl !== undefined) asked.authUrl = '' + args.authUrl;
    const response = await rt.host('http', asked);
    if (response.contentLength !== undefined && response.contentLength !== null) {
      response.contentLength = +response.contentLength;
    }
    return response;
  };
  return {
    get: request('GET'), post: request('POST'), put: request('PUT'), patch: request('PATCH'),
    delete: request('DELETE'), head: request('HEAD'),
  };
})
