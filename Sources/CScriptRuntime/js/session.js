// Sessions and their transactions. Operations of one session run one after the other, in the order of their calls.
(function (rt) {
  'use strict';
  const { Error, TypeError, then, weakGet, weakSet, WeakMap } = rt.primordials;
  const states = new WeakMap();
  const nothing = () => undefined;

  /** Runs one step after all that were queued before it. */
  const queue = (state, step) => {
    const result = then(state.tail, step);
    state.tail = then(result, nothing, (error) => {
      if (state.fault === undefined) state.fault = error;
    });
    return result;
  };
  /** The number that stands for the session with the gateway; asked for when it is first needed. */
  const number = async (state) => {
    if (state.number === undefined) state.number = await rt.host('session.start', { service: state.service });
    return state.number;
  };
  const tell = (state, name) => async () => rt.host(name, { session: await number(state) });

  const call = (service, method, args, session) => {
    const state = typeof session === 'object' ? weakGet(states, session) : undefined;
    if (state === undefined) throw new TypeError('session must be what startSession returned');
    if (state.hasEnded) throw new Error('the session has ended');
    return queue(state, async () =>
      rt.host('data', { service, method, arguments: args, session: await number(state) }));
  };

  const start = (service) => {
    const state = { __proto__: null, service, tail: (async () => undefined)(), isOpen: false, hasEnded: false };
    const begin = async () => {
      if (state.hasEnded) throw new Error('the session has ended');
      if (state.isOpen) throw new Error('a transaction is already in progress');
      state.isOpen = true;
      await queue(state, tell(state, 'session.begin'));
      state.fault = undefined;
    };
    const finish = async (name) => {
      if (!state.isOpen) throw new Error('no transaction is in progress');
      state.isOpen = false;
      return queue(state, tell(state, name));
    };
    const session = {
      withTransaction: async (body) => {
        if (typeof body !== 'function') throw new TypeError('withTransaction takes a function');
        await begin();
        let value;
        try {
          const running = body(session);
          if (running === null || typeof running !== 'object' || typeof running.then !== 'function') {
            throw new TypeError('the callback of withTransaction must return a promise');
          }
          value = await running;
          // What the callback did not wait for belongs to the transaction all the same.
          await state.tail;
          if (state.isOpen && state.fault !== undefined) throw state.fault;
        } catch (error) {
          if (state.isOpen) await finish('session.abort');
          throw error;
        }
        if (state.isOpen) await finish('session.commit');
        return value;
      },
      startTransaction: () => { then(begin(), nothing, nothing); },
      commitTransaction: () => finish('session.commit'),
      abortTransaction: async () => (state.isOpen ? finish('session.abort') : undefined),
      endSession: async () => {
        if (state.hasEnded) return;
        await state.tail;
        state.hasEnded = true;
        state.isOpen = false;
        if (state.number !== undefined) await rt.host('session.end', { session: state.number });
      },
    };
    weakSet(states, session, state);
    return session;
  };
  return { call, start };
})
