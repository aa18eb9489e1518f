// What `context.services.get("mongodb-atlas")` answers: databases and collections as handles.
(function (rt) {
  'use strict';
  const { TypeError, Error, isArray, keys } = rt.primordials;

  const isDocument = (value) => value !== null && typeof value === 'object' && !isArray(value);
  const optionNames = {
    __proto__: null, upsert: 1, sort: 1, projection: 1, returnNewDocument: 1, arrayFilters: 1, session: 1, ordered: 1,
    bypassDocumentValidation: 1, maxTimeMS: 1, enforceReadPref: 1, allowDiskUse: 1, limit: 1, skip: 1, collation: 1,
    hint: 1,
  };
  /** Whether an argument in the place of a projection holds options only, one of them a session. */
  const looksLikeOptions = (value) => {
    if (!isDocument(value) || value.session === undefined) return false;
    const names = keys(value);
    for (let i = 0; i < names.length; i++) if (optionNames[names[i]] === undefined) return false;
    return true;
  };
  const checked = (options, what) => {
    if (options === undefined || options === null) return {};
    if (!isDocument(options)) throw new TypeError(what + ': options must be a document');
    const names = keys(options);
    for (let i = 0; i < names.length; i++) {
      if (optionNames[names[i]] === undefined) throw new TypeError(what + ": unknown option '" + names[i] + "'");
    }
    return options;
  };
  // What options are called on the way to the gateway.
  const common = { __proto__: null, maxTimeMS: 'maxTimeMS', collation: 'collation', hint: 'hint' };
  /** The names of the writing methods; a run that writes nothing has no need of them. */
  let known;
  const writes = () => (known === undefined ? (known = namesOfWrites()) : known);
  const namesOfWrites = () => {
    const any = { __proto__: null, ...common, bypassDocumentValidation: 'bypassDocumentValidation' };
    const update = { __proto__: null, ...any, upsert: 'upsert', arrayFilters: 'arrayFilters' };
    const returning = {
      __proto__: null, ...update, sort: 'sort', projection: 'projection', returnNewDocument: 'returnNewDocument',
    };
    return { any, update, returning };
  };
  const hasOperators = (update) => {
    if (isArray(update)) return true;
    const names = keys(update);
    for (let i = 0; i < names.length; i++) if (names[i][0] !== '$') return false;
    return names.length > 0;
  };

  /** Most calls belong to no session. */
  const call = (service, method, args, session, isPlain) =>
    (session === undefined || session === null
      ? rt.host('data', { service, method, arguments: args }, isPlain)
      : rt.load('session').call(service, method, args, session));

  const collection = (service, database, name) => {
    /** One call on this collection; `wanted` are the options that it knows, as the host names them. */
    const ask = (method, fields, options, wanted, isPlain = true) => {
      const args = { __proto__: null, database, collection: name };
      // Own names only: what a script hangs on `Object.prototype` is no argument.
      const names = keys(fields);
      for (let i = 0; i < names.length; i++) {
        if (fields[names[i]] !== undefined) args[names[i]] = fields[names[i]];
      }
      for (const key in wanted) {
        const value = options[key];
        if (value !== undefined && value !== null) args[wanted[key]] = value;
      }
      return call(service, method, args, options.session, isPlain);
    };
    const read = (query, projection, options, what) => {
      if (options === undefined && looksLikeOptions(projection)) {
        options = projection;
        projection = undefined;
      }
      options = checked(options, what);
      return { fields: { query: query ?? {}, project: projection ?? options.projection }, rest: options };
    };
    const update = (method, query, change, options) => {
      options = checked(options, method);
      if (change === null || typeof change !== 'object') throw new TypeError(method + ': update must be a document');
      if (!hasOperators(change)) throw new TypeError('update document must contain atomic operators');
      return ask(method, { query: query ?? {}, update: change }, options, writes().update);
    };

    const self = {
      find: (query, projection, options) => {
        const { fields, rest } = read(query, projection, options, 'find');
        return rt.load('cursor').find((more, isPlain) =>
          ask('find', { ...fields, ...more }, rest, { __proto__: null, ...common }, isPlain), rest);
      },
      findOne: (query, projection, options) => {
        const { fields, rest } = read(query, projection, options, 'findOne');
        return ask('findOne', fields, rest, common);
      },
      findOneAndUpdate: (query, change, options) => {
        if (change === null || typeof change !== 'object') {
          throw new TypeError('findOneAndUpdate: update must be a document');
        }
        if (!hasOperators(change)) throw new TypeError('update document must contain atomic operators');
        return ask('findOneAndUpdate', { filter: query ?? {}, update: change },
          checked(options, 'findOneAndUpdate'), writes().returning);
      },
      findOneAndReplace: (query, replacement, options) => {
        if (!isDocument(replacement)) throw new TypeError('findOneAndReplace: replacement must be a document');
        return ask('findOneAndReplace', { filter: query ?? {}, update: replacement },
          checked(options, 'findOneAndReplace'), writes().returning);
      },
      findOneAndDelete: (query, options) =>
        ask('findOneAndDelete', { filter: query ?? {} }, checked(options, 'findOneAndDelete'),
          { __proto__: null, ...common, sort: 'sort', projection: 'projection' }),
      insertOne: (document, options) => {
        if (!isDocument(document)) throw new TypeError('insertOne: document must be a document');
        return ask('insertOne', { document }, checked(options, 'insertOne'), writes().any);
      },
      insertMany: (documents, options) => {
        if (!isArray(documents)) throw new TypeError('insertMany: documents must be an array');
        return ask('insertMany', { documents }, checked(options, 'insertMany'),
          { __proto__: null, ...writes().any, ordered: 'ordered' });
      },
      updateOne: (query, change, options) => update('updateOne', query, change, options),
      updateMany: (query, change, options) => update('updateMany', query, change, options),
      replaceOne: (query, replacement, options) => {
        if (!isDocument(replacement)) throw new TypeError('replaceOne: replacement must be a document');
        return ask('replaceOne', { query: query ?? {}, update: replacement },
          checked(options, 'replaceOne'), writes().update);
      },
      deleteOne: (query, options) =>
        ask('deleteOne', { query: query ?? {} }, checked(options, 'deleteOne'), common),
      deleteMany: (query, options) =>
        ask('deleteMany', { query: query ?? {} }, checked(options, 'deleteMany'), common),
      aggregate: (pipeline, options) => {
        if (!isArray(pipeline)) throw new TypeError('aggregate: pipeline must be an array');
        const rest = checked(options, 'aggregate');
        return rt.load('cursor').aggregate(pipeline, (stages, isPlain) =>
          ask('aggregate', { pipeline: stages }, rest, { __proto__: null, ...common, allowDiskUse: 'allowDiskUse' },
            isPlain));
      },
      count: async (query, options) => {
        const rest = checked(options, 'count');
        return +(await ask('count', { query: query ?? {} }, rest,
          { __proto__: null, ...common, limit: 'limit', skip: 'skip' }, false));
      },
      distinct: (field, query, options) => {
        if (typeof field !== 'string') throw new TypeError('distinct: field must be a string');
        return ask('distinct', { key: field, query: query ?? {} }, checked(options, 'distinct'), common);
      },
      bulkWrite: (operations, options) => {
        if (!isArray(operations)) throw new TypeError('bulkWrite: operations must be an array');
        return rt.load('bulk').write(self, operations, checked(options, 'bulkWrite'));
      },
      initializeOrderedBulkOp: () => rt.load('bulk').builder(self, true),
      initializeUnorderedBulkOp: () => rt.load('bulk').builder(self, false),
      watch: () => {
        throw new Error('watch is not supported inside functions');
      },
    };
    return self;
  };

  const client = (service) => ({
    db: (database) => {
      if (typeof database !== 'string') throw new TypeError('db: the name must be a string');
      return {
        collection: (name) => {
          if (typeof name !== 'string') throw new TypeError('collection: the name must be a string');
          return collection(service, database, name);
        },
        getCollectionNames: () => rt.host('data.collections', { service, database }),
        aggregate: (pipeline, options) => {
          if (!isArray(pipeline)) throw new TypeError('aggregate: pipeline must be an array');
          const rest = checked(options, 'aggregate');
          const args = { __proto__: null, database };
          const passed = ['maxTimeMS', 'collation', 'allowDiskUse'];
          for (let i = 0; i < passed.length; i++) {
            const value = rest[passed[i]];
            if (value !== undefined && value !== null) args[passed[i]] = value;
          }
          return rt.load('cursor').aggregate(pipeline, (stages, isPlain) => {
            args.pipeline = stages;
            return call(service, 'aggregate', args, rest.session, isPlain);
          });
        },
      };
    },
    admin: () => ({ getDBNames: () => rt.host('data.databases', { service }) }),
    startSession: () => rt.load('session').start(service),
  });
  return { client };
})
