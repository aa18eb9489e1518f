// `require("path")`: of POSIX.
(function () {
  'use strict';
  const text = (value, name) => {
    if (typeof value !== 'string') throw new TypeError('The "' + name + '" argument must be of type string');
    return value;
  };
  const simplified = (path, isAbsolute) => {
    const out = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') out.push(part);
      else if (out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (!isAbsolute) out.push('..');
    }
    return out.join('/');
  };
  const isAbsolute = (path) => text(path, 'path')[0] === '/';
  const normalize = (path) => {
    if (text(path, 'path') === '') return '.';
    const root = isAbsolute(path) ? '/' : '';
    let out = simplified(path, root !== '');
    if (out === '' && root === '') out = '.';
    if (out !== '' && path.endsWith('/')) out += '/';
    return root + out;
  };
  const join = (...parts) => {
    const path = parts.filter((part) => text(part, 'path') !== '').join('/');
    return path === '' ? '.' : normalize(path);
  };
  const resolve = (...parts) => {
    let path = '';
    for (let i = parts.length - 1; i >= 0 && path[0] !== '/'; i--) {
      if (text(parts[i], 'path') !== '') path = path === '' ? parts[i] : parts[i] + '/' + path;
    }
    return '/' + simplified(path, true);
  };
  const withoutSlashes = (path) => {
    let end = path.length;
    while (end > 1 && path[end - 1] === '/') end -= 1;
    return path.slice(0, end);
  };
  const dirname = (path) => {
    const short = withoutSlashes(text(path, 'path'));
    const at = short.lastIndexOf('/');
    if (at < 0) return '.';
    return at === 0 ? '/' : withoutSlashes(short.slice(0, at));
  };
  const basename = (path, end) => {
    const short = withoutSlashes(text(path, 'path'));
    const name = short.slice(short.lastIndexOf('/') + 1);
    return end !== undefined && name.endsWith(end) && name !== end ? name.slice(0, -end.length) : name;
  };
  const extname = (path) => {
    const name = basename(path);
    const at = name.lastIndexOf('.');
    return at <= 0 || name === '..' ? '' : name.slice(at);
  };
  const relative = (from, to) => {
    const left = resolve(from).split('/').filter(Boolean);
    const right = resolve(to).split('/').filter(Boolean);
    let same = 0;
    while (same < left.length && same < right.length && left[same] === right[same]) same += 1;
    return [...left.slice(same).map(() => '..'), ...right.slice(same)].join('/');
  };
  const parse = (path) => {
    const root = isAbsolute(path) ? '/' : '';
    const base = basename(path);
    const ext = extname(path);
    const dir = path.includes('/') ? dirname(path) : '';
    return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
  };
  const format = (parts) => {
    const dir = parts.dir ?? parts.root ?? '';
    const base = parts.base ?? (parts.name ?? '') + (parts.ext ?? '');
    return dir === '' ? base : dir === parts.root ? dir + base : dir + '/' + base;
  };
  const path = {
    sep: '/', delimiter: ':', normalize, join, resolve, dirname, basename, extname, relative, isAbsolute, parse, format,
    toNamespacedPath: (path) => path,
  };
  path.posix = path;
  return path;
})
