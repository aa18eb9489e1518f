// `context`: who calls, with which request, in which app, and what a function may use.
(function (rt) {
  'use strict';
  const { apply, create, defineProperty, hasOwn, Error } = rt.primordials;
  const { native } = rt;
  const own = (document, name) =>
    (typeof name === 'string' && hasOwn(document, name) ? document[name] : undefined);

  // Each is made when it is first asked for, and may be replaced. Spelt out, not by `rt.lazy`: every call makes these,
  // and needs no descriptor for each then.
  const put = (name, value) => {
    defineProperty(base, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    return value;
  };
  const asked = () => {
    const request = rt.fact('request');
    return request === null ? undefined : request;
  };
  const base = {
    get app() { return put('app', rt.fact('app')); },
    set app(value) { put('app', value); },
    get environment() { return put('environment', rt.fact('environment')); },
    set environment(value) { put('environment', value); },
    get user() { return put('user', rt.fact('user')); },
    set user(value) { put('user', value); },
    get request() { return put('request', asked()); },
    set request(value) { put('request', value); },
    get http() { return put('http', rt.load('http')); },
    set http(value) { put('http', value); },
    runningAsSystem: () => native.isSystem(),
  };

  let values;
  base.values = {
    get: (name) => own(values === undefined ? (values = rt.fact('values')) : values, name),
  };

  const clients = create(null);
  base.services = {
    get: (name) => {
      const kind = own(rt.services(), name);
      if (kind === undefined) return undefined;
      if (name in clients) return clients[name];
      return (clients[name] = kind === 'http' ? rt.load('http') : rt.load('mongodb').client(name));
    },
  };

  const functions = (depth) => ({
    execute: (name, ...args) => {
      if (depth + 1 > rt.limits.depth) {
        throw new Error('functions call each other more than ' + rt.limits.depth + ' levels deep');
      }
      return apply(rt.entry('' + name, depth + 1), undefined, args);
    },
  });

  return {
    /** The context of a function that so many others have called one another to reach. */
    at: (depth) => {
      if (depth === 0) {
        base.functions = functions(0);
        return base;
      }
      const context = create(base);
      context.functions = functions(depth);
      return context;
    },
  };
})
