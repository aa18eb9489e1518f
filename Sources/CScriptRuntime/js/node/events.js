// `require("events")`. A function, not a class: packages call it on objects of their own.
(function () {
  'use strict';
  const table = (self) => {
    if (!Object.hasOwn(self, '_events') || !(self._events instanceof Map)) {
      Object.defineProperty(self, '_events', { value: new Map(), writable: true, configurable: true });
    }
    return self._events;
  };
  const insert = (self, name, listener, isOnce, isFirst) => {
    if (typeof listener !== 'function') throw new TypeError('The "listener" argument must be a function');
    const events = table(self);
    if (events.has('newListener')) self.emit('newListener', name, listener);
    const list = events.get(name) ?? [];
    const entry = { listener, isOnce };
    events.set(name, isFirst ? [entry, ...list] : [...list, entry]);
    return self;
  };
  const remove = (self, name, isIt) => {
    const events = table(self);
    const list = events.get(name) ?? [];
    const index = list.findLastIndex(isIt);
    if (index < 0) return self;
    const rest = list.toSpliced(index, 1);
    if (rest.length === 0) events.delete(name);
    else events.set(name, rest);
    if (events.has('removeListener')) self.emit('removeListener', name, list[index].listener);
    return self;
  };

  function EventEmitter() {}
  const methods = {
    on(name, listener) { return insert(this, name, listener, false, false); },
    once(name, listener) { return insert(this, name, listener, true, false); },
    prependListener(name, listener) { return insert(this, name, listener, false, true); },
    prependOnceListener(name, listener) { return insert(this, name, listener, true, true); },
    off(name, listener) { return remove(this, name, (entry) => entry.listener === listener); },
    emit(name, ...args) {
      const list = table(this).get(name);
      if (list === undefined) {
        if (name !== 'error') return false;
        throw args[0] instanceof Error ? args[0] : new Error('Unhandled error. (' + args[0] + ')');
      }
      for (const entry of list) {
        if (entry.isOnce) remove(this, name, (one) => one === entry);
        Reflect.apply(entry.listener, this, args);
      }
      return true;
    },
    listenerCount(name) { return (table(this).get(name) ?? []).length; },
    listeners(name) { return (table(this).get(name) ?? []).map((entry) => entry.listener); },
    eventNames() { return [...table(this).keys()]; },
    removeAllListeners(name) {
      if (name === undefined) table(this).clear();
      else table(this).delete(name);
      return this;
    },
    setMaxListeners() { return this; },
    getMaxListeners() { return EventEmitter.defaultMaxListeners; },
  };
  methods.addListener = methods.on;
  methods.removeListener = methods.off;
  methods.rawListeners = methods.listeners;
  for (const name of Object.keys(methods)) {
    Object.defineProperty(EventEmitter.prototype, name, { value: methods[name], writable: true, configurable: true });
  }
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.defaultMaxListeners = 10;
  EventEmitter.once = (emitter, name) => new Promise((resolve, reject) => {
    const fail = (error) => {
      emitter.removeListener(name, succeed);
      reject(error);
    };
    const succeed = (...args) => {
      emitter.removeListener('error', fail);
      resolve(args);
    };
    emitter.once(name, succeed);
    if (name !== 'error') emitter.once('error', fail);
  });
  return EventEmitter;
})
