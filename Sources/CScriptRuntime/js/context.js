// `context`: who calls, with which request, in which app, and what a function may use.
(function (rt) {
  'use strict';
  const { apply, create, hasOwn, Error } = rt.primordials;
  const { native, lazy } = rt;
  const base = {};
  const own = (document, name) =>
    (typeof name === 'string' && hasOwn(document, name) ? document[name] : undefined);

  lazy(base, 'app', true, () => rt.fact('app'));
  lazy(base, 'environment', true, () => rt.fact('environment'));
  lazy(base, 'user', true, () => rt.fact('user'));
  lazy(base, 'request', true, () => {
    const request = rt.fact('request');
    return request === null ? undefined : request;
  });
  lazy(base, 'http', true, () => rt.load('http'));
  base.runningAsSystem = () => native.isSystem();

  let values;
  base.values = {
    get: (name) => own(values === undefined ? (values = rt.fact('values')) : values, name),
  };

  let kinds;
  const clients = create(null);
  base.services = {
    get: (name) => {
      if (kinds === undefined) kinds = rt.fact('services');
      const kind = own(kinds, name);
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
