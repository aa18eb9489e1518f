// What became of a run that ended with an exception, as the worker is told.
(function (rt) {
  'use strict';
  const { Error, exec, slice, weakGet, create } = rt.primordials;

  // Texts that client libraries and their tests know, where the engine's own differ.
  const known = [
    [/^Can't find variable: (.+)$/, (part) => "'" + part[1] + "' is not defined"],
    [/^(undefined|null) is not an object \(evaluating '.*?([A-Za-z_$][\w$]*)'\)$/s,
      (part) => "Cannot access member '" + part[2] + "' of " + part[1]],
  ];
  const plain = (message) => {
    for (let i = 0; i < known.length; i++) {
      const part = exec(known[i][0], message);
      if (part !== null) return known[i][1](part);
    }
    return message;
  };
  const text = (value, otherwise) => (typeof value === 'string' ? value : otherwise);

  const describe = (error) => {
    const host = rt.hostErrors === undefined ? undefined : weakGet(rt.hostErrors, error);
    const message = text(error.message, '');
    const stack = text(error.stack, '');
    if (host !== undefined) return { __proto__: null, message, stack, host };
    let name = text(error.name, 'Error');
    if (name === 'Error' && error.constructor !== Error) name = text(error.constructor && error.constructor.name, name);
    const isOfEngine = error.constructor !== Error && error instanceof Error;
    const told = isOfEngine ? plain(message) : message;
    const whole = name === 'Error' || name === '' ? told : told === '' ? name : name + ': ' + told;
    const isSyntax = rt.native.isSyntaxFault(error);
    return { __proto__: null, message: whole === '' ? name : whole, stack, host: null, isSyntax };
  };

  return (error) => {
    try {
      if (error instanceof Error) return describe(error);
      return { __proto__: null, message: rt.native.ejson(rt.write(error), false), stack: '', host: null };
    } catch {
      // A getter or a proxy that throws while we look at what was thrown.
      return { __proto__: null, message: 'the function threw a value that cannot be shown', stack: '', host: null };
    }
  };
})
