// `bulkWrite`, and the builders of bulk operations.
(function (rt) {
  'use strict';
  const { keys, TypeError } = rt.primordials;

  const steps = {
    __proto__: null,
    insertOne: (on, args, options) => on.insertOne(args.document, options),
    updateOne: (on, args, options) =>
      on.updateOne(args.filter, args.update, { upsert: args.upsert, arrayFilters: args.arrayFilters, ...options }),
    updateMany: (on, args, options) =>
      on.updateMany(args.filter, args.update, { upsert: args.upsert, arrayFilters: args.arrayFilters, ...options }),
    replaceOne: (on, args, options) => on.replaceOne(args.filter, args.replacement, { upsert: args.upsert, ...options }),
    deleteOne: (on, args, options) => on.deleteOne(args.filter, options),
    deleteMany: (on, args, options) => on.deleteMany(args.filter, options),
  };

  /** Each operation with its name, all looked at before the first is done. */
  const checked = (operations) => {
    const plan = [];
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i];
      const names = operation !== null && typeof operation === 'object' ? keys(operation) : [];
      if (names.length !== 1 || !(names[0] in steps)) {
        throw new TypeError('bulkWrite: operation ' + i + ' must hold one of insertOne, updateOne, updateMany, ' +
          'replaceOne, deleteOne, deleteMany');
      }
      const args = operation[names[0]];
      if (args === null || typeof args !== 'object') {
        throw new TypeError('bulkWrite: ' + names[0] + ' must be a document');
      }
      plan[i] = [names[0], args];
    }
    return plan;
  };

  const write = async (collection, operations, options) => {
    const plan = checked(operations);
    rt.mix();
    const isOrdered = options.ordered !== false;
    const rest = { ...options };
    delete rest.ordered;
    let fault;
    for (let i = 0; i < plan.length; i++) {
      try {
        await steps[plan[i][0]](collection, plan[i][1], rest);
      } catch (error) {
        if (isOrdered) throw error;
        if (fault === undefined) fault = error;
      }
    }
    if (fault !== undefined) throw fault;
    return null;
  };

  const builder = (collection, isOrdered) => {
    const operations = [];
    let isDone = false;
    const add = (name, args) => {
      if (isDone) throw new TypeError('the bulk operation was executed already');
      operations[operations.length] = { [name]: args };
    };
    const finding = (filter, upsert) => ({
      upsert: () => finding(filter, true),
      updateOne: (update) => add('updateOne', { filter, update, upsert }),
      update: (update) => add('updateMany', { filter, update, upsert }),
      replaceOne: (replacement) => add('replaceOne', { filter, replacement, upsert }),
      removeOne: () => add('deleteOne', { filter }),
      remove: () => add('deleteMany', { filter }),
    });
    return {
      find: (filter) => finding(filter ?? {}, undefined),
      insert: (document) => add('insertOne', { document }),
      execute: (options) => {
        if (isDone) throw new TypeError('the bulk operation was executed already');
        isDone = true;
        return write(collection, operations, { ...(options ?? {}), ordered: isOrdered });
      },
    };
  };
  return { write, builder };
})
