// Cursors: what `find` and `aggregate` return. The query runs when the first document is asked for.
(function (rt) {
  'use strict';
  const { Error, TypeError, isArray, asyncIterator, defineProperty, create, Symbol, floor } = rt.primordials;

  const walk = {
    __proto__: null,
    fetch(isPlain) {
      if (this.documents === undefined) this.documents = this.ask(isPlain);
      // The same answer serves another method.
      else rt.native.keep();
      return this.documents;
    },
    change() {
      if (this.documents !== undefined) throw new Error('cannot modify a cursor after it has been iterated');
    },
  };
  const count = (value, what) => {
    const number = typeof value === 'object' && value !== null ? +value : value;
    if (typeof number !== 'number' || !(number >= 0) || number !== floor(number)) {
      throw new TypeError(what + ' takes a whole number that is not negative');
    }
    return number;
  };
  const isCursor = Symbol('cursor');

  const cursor = (ask, steps) => {
    const state = create(walk);
    state.ask = ask;
    let at = 0;
    const all = async (isPlain) => {
      const documents = await state.fetch(isPlain);
      if (at === 0) {
        at = documents.length;
        return documents;
      }
      const rest = [];
      while (at < documents.length) rest[rest.length] = documents[at++];
      return rest;
    };
    const self = {
      next: async () => {
        const documents = await state.fetch(false);
        return at < documents.length ? documents[at++] : undefined;
      },
      toArray: () => all(true),
      hasNext: async () => at < (await state.fetch(false)).length,
      close: async () => {
        at = (state.documents === undefined ? (state.documents = []) : await state.fetch(false)).length;
      },
      forEach: async (body) => {
        const documents = await all(false);
        for (let i = 0; i < documents.length; i++) await body(documents[i]);
      },
    };
    for (const name in steps) {
      self[name] = (value) => {
        state.change();
        steps[name](value);
        return self;
      };
    }
    const iterate = () => ({
      next: async () => {
        const value = await self.next();
        return { value, done: value === undefined };
      },
      return: async (value) => ({ value, done: true }),
    });
    defineProperty(self, asyncIterator, { __proto__: null, value: iterate });
    defineProperty(self, isCursor, { __proto__: null, value: true });
    return self;
  };
  rt.isCursor = (value) => value !== null && typeof value === 'object' && value[isCursor] === true;

  return {
    find: (ask, options) => {
      const more = { __proto__: null };
      const steps = {
        __proto__: null,
        sort: (order) => {
          if (order === null || typeof order !== 'object' || isArray(order)) {
            throw new TypeError('sort takes a document');
          }
          more.sort = order;
        },
        skip: (number) => { more.skip = count(number, 'skip'); },
        limit: (number) => { more.limit = count(number, 'limit'); },
      };
      for (const name in steps) if (options[name] !== undefined && options[name] !== null) steps[name](options[name]);
      return cursor((isPlain) => ask(more, isPlain), steps);
    },
    aggregate: (pipeline, ask) => {
      const stages = [];
      for (let i = 0; i < pipeline.length; i++) stages[i] = pipeline[i];
      return cursor((isPlain) => ask(stages, isPlain), {
        __proto__: null,
        skip: (number) => { stages[stages.length] = { $skip: count(number, 'skip') }; },
      });
    },
  };
})
