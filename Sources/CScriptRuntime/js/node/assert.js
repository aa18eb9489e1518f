// `require("assert")`.
(function (rt) {
  'use strict';
  const { deep } = rt.load('equality');
  const { inspect } = rt.load('require')('util', '');
  class AssertionError extends Error {
    constructor(options) {
      super(options.message);
      this.name = 'AssertionError';
      this.code = 'ERR_ASSERTION';
      this.actual = options.actual;
      this.expected = options.expected;
      this.operator = options.operator;
      this.generatedMessage = options.generatedMessage ?? false;
    }
  }
  const fail = (message, actual, expected, operator, words) => {
    if (message instanceof Error) throw message;
    const generatedMessage = message === undefined;
    if (generatedMessage) message = words ?? inspect(actual) + ' ' + operator + ' ' + inspect(expected);
    throw new AssertionError({ message, actual, expected, operator, generatedMessage });
  };
  const test = (operator, holds) => (actual, expected, message) => {
    if (!holds(actual, expected)) fail(message, actual, expected, operator);
  };
  const ok = (value, message) => {
    if (!value) fail(message, value, true, '==', 'The expression evaluated to a falsy value');
  };
  const assert = (value, message) => ok(value, message);
  const fits = (error, expected) => {
    if (expected === undefined || typeof expected === 'string') return true;
    if (expected instanceof RegExp) return expected.test('' + error);
    if (typeof expected === 'function') {
      if (expected.prototype !== undefined && error instanceof expected) return true;
      return !Error.isPrototypeOf(expected) && expected.call({}, error) === true;
    }
    return Object.keys(expected).every((key) => (
      expected[key] instanceof RegExp && typeof error[key] === 'string'
        ? expected[key].test(error[key]) : deep(error[key], expected[key], true)));
  };
  const caught = (error, expected, message) => {
    if (!fits(error, expected)) fail(message, error, expected, 'throws', 'The error is not the one expected: ' + error);
  };
  const said = (expected, message) => (typeof expected === 'string' ? expected : message);
  const throws = (body, expected, message) => {
    let error;
    try {
      body();
    } catch (thrown) {
      error = [thrown];
    }
    if (error === undefined) fail(said(expected, message), undefined, expected, 'throws', 'Missing expected exception.');
    caught(error[0], expected, message);
  };
  const rejects = async (body, expected, message) => {
    let error;
    try {
      await (typeof body === 'function' ? body() : body);
    } catch (thrown) {
      error = [thrown];
    }
    if (error === undefined) fail(said(expected, message), undefined, expected, 'rejects', 'Missing expected rejection.');
    caught(error[0], expected, message);
  };
  Object.assign(assert, {
    ok, throws, rejects, AssertionError,
    fail: (message) => fail(message, undefined, undefined, 'fail', 'Failed'),
    equal: test('==', (left, right) => left == right || (left !== left && right !== right)),
    notEqual: test('!=', (left, right) => left != right),
    strictEqual: test('strictEqual', Object.is),
    notStrictEqual: test('notStrictEqual', (left, right) => !Object.is(left, right)),
    deepEqual: test('deepEqual', (left, right) => deep(left, right, false)),
    notDeepEqual: test('notDeepEqual', (left, right) => !deep(left, right, false)),
    deepStrictEqual: test('deepStrictEqual', (left, right) => deep(left, right, true)),
    notDeepStrictEqual: test('notDeepStrictEqual', (left, right) => !deep(left, right, true)),
    match: test('match', (text, pattern) => pattern.test(text)),
    doesNotMatch: test('doesNotMatch', (text, pattern) => !pattern.test(text)),
    doesNotThrow: (body, message) => {
      try {
        body();
      } catch (error) {
        fail(typeof message === 'string' ? message : undefined, error, undefined, 'doesNotThrow',
          'Got unwanted exception: ' + error);
      }
    },
    doesNotReject: async (body) => { await (typeof body === 'function' ? body() : body); },
    ifError: (value) => {
      if (value !== null && value !== undefined) throw value;
    },
  });
  assert.strict = Object.assign((value, message) => ok(value, message), assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual,
  });
  assert.strict.strict = assert.strict;
  return assert;
})
