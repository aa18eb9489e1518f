// `require`: the modules of the runtime, then the packages that the app brought (node's resolution).
(function (rt) {
  'use strict';
  const native = rt.group('modules');
  const { create, hasOwn, isArray, keys, Error, slice, apply } = rt.primordials;
  const builtIn = {
    __proto__: null, assert: 1, buffer: 1, crypto: 1, events: 1, path: 1, querystring: 1, url: 1, util: 1, zlib: 1,
    string_decoder: 1, timers: 1,
  };
  const shims = create(null);
  const loaded = create(null);
  const missing = (name) => {
    const error = new Error('module "' + name + '" is not available');
    error.code = 'MODULE_NOT_FOUND';
    return error;
  };

  /** A path without `.`, `..` and doubled slashes. */
  const normal = (path) => {
    const out = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part === '..') out.pop();
      else out.push(part);
    }
    return out.join('/');
  };
  const isFile = (path) => native.hasModule(path);
  const parsed = create(null);
  const packageAt = (folder) => {
    const path = folder === '' ? 'package.json' : folder + '/package.json';
    if (!isFile(path)) return undefined;
    return path in parsed ? parsed[path] : (parsed[path] = JSON.parse(native.moduleText(path)));
  };
  const asFile = (path) => {
    for (const end of ['', '.js', '.cjs', '.json']) if (path !== '' && isFile(path + end)) return path + end;
    return undefined;
  };
  const asFolder = (path) => {
    const main = packageAt(path)?.main;
    if (typeof main === 'string') {
      const target = normal(path + '/' + main);
      const found = asFile(target) ?? asFile(target + '/index');
      if (found !== undefined) return found;
    }
    return asFile(path + '/index');
  };

  /** The target of an entry of `exports` under the conditions that hold here. */
  const chosen = (entry, rest) => {
    if (typeof entry === 'string') return rt.primordials.replaceAll(entry, '*', rest);
    if (isArray(entry)) {
      for (const one of entry) {
        const found = chosen(one, rest);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    if (entry === null || typeof entry !== 'object') return undefined;
    for (const condition of keys(entry)) {
      if (!['node', 'require', 'default'].includes(condition)) continue;
      const found = chosen(entry[condition], rest);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const throughExports = (folder, exports, subpath) => {
    const isMap = exports !== null && typeof exports === 'object' && !isArray(exports) &&
      keys(exports).some((key) => key[0] === '.');
    let target;
    if (!isMap) target = subpath === '.' ? chosen(exports, '') : undefined;
    else if (hasOwn(exports, subpath)) target = chosen(exports[subpath], '');
    else {
      for (const key of keys(exports)) {
        const star = key.indexOf('*');
        if (star < 0) continue;
        const [head, tail] = [slice(key, 0, star), slice(key, star + 1)];
        if (subpath.startsWith(head) && subpath.endsWith(tail) && subpath.length >= key.length) {
          target = chosen(exports[key], slice(subpath, head.length, subpath.length - tail.length));
          break;
        }
      }
    }
    return target === undefined ? undefined : asFile(normal(folder + '/' + target));
  };

  /** The file that a name means when a file of this folder asks for it. */
  const resolve = (name, from) => {
    if (name[0] === '.' || name[0] === '/') {
      const path = normal(name[0] === '/' ? name : from + '/' + name);
      return asFile(path) ?? asFolder(path);
    }
    const parts = name.split('/');
    const count = name[0] === '@' ? 2 : 1;
    const packageName = parts.slice(0, count).join('/');
    const subpath = parts.slice(count).join('/');
    // Packages of packages first, then those on top.
    let folder = from;
    while (true) {
      const base = folder === '' ? packageName : folder + '/node_modules/' + packageName;
      const description = packageAt(base);
      if (description !== undefined || isFile(base + '/index.js')) {
        if (description?.exports !== undefined && description.exports !== null) {
          return throughExports(base, description.exports, subpath === '' ? '.' : './' + subpath);
        }
        return subpath === '' ? asFolder(base) : asFile(base + '/' + subpath) ?? asFolder(base + '/' + subpath);
      }
      if (folder === '') return asFile(name);
      const up = folder.lastIndexOf('/');
      folder = up < 0 ? '' : slice(folder, 0, up);
    }
  };

  const load = (path) => {
    if (path in loaded) return loaded[path].exports;
    const up = path.lastIndexOf('/');
    const folder = up < 0 ? '' : slice(path, 0, up);
    const module = (loaded[path] = { exports: {}, id: path, filename: '/' + path, loaded: false, children: [] });
    if (path.endsWith('.json')) {
      module.exports = JSON.parse(native.moduleText(path));
      return module.exports;
    }
    try {
      const own = (name) => require(name, folder);
      own.resolve = (name) => resolve(name, folder) ?? name;
      own.cache = {};
      apply(rt.moduleBody(path), module.exports, [
        module.exports, own, module, '/' + path, '/' + folder, globalThis.Buffer, globalThis.process, globalThis,
      ]);
    } catch (error) {
      delete loaded[path];
      throw error;
    }
    module.loaded = true;
    return module.exports;
  };

  const require = (name, from) => {
    if (typeof name !== 'string' || name === '') throw new rt.primordials.TypeError('require takes a name');
    const bare = name.startsWith('node:') ? slice(name, 5) : name;
    if (bare in builtIn) return bare in shims ? shims[bare] : (shims[bare] = rt.load('node/' + bare));
    if (from === '' && (name[0] === '.' || name[0] === '/')) {
      throw new Error('require("' + name + '") is not supported: call context.functions.execute');
    }
    const path = resolve(name, from);
    if (path === undefined) throw missing(name);
    return load(path);
  };
  return require;
})
