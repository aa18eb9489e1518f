// What the function of an endpoint is called with: a request, and a response that it fills.
(function (rt) {
  'use strict';
  const { TypeError, isArray } = rt.primordials;
  let status = null;
  let body = null;
  let headers = [];
  const { native } = rt;
  const lower = rt.primordials.lower;
  const same = (left, right) => lower(left) === lower(right);

  const response = {
    setStatusCode: (code) => {
      if (typeof code !== 'number' || code !== (code | 0) || code < 100 || code > 599) {
        throw new TypeError('setStatusCode takes a whole number from 100 to 599');
      }
      status = code;
    },
    setBody: (value) => {
      if (typeof value === 'string') body = native.utf8(value);
      else body = rt.load('bson').bytes(value, 'setBody');
    },
    setHeader: (name, value) => {
      const kept = [];
      for (let i = 0; i < headers.length; i++) {
        if (!same(headers[i].name, '' + name)) kept[kept.length] = headers[i];
      }
      headers = kept;
      response.addHeader(name, value);
    },
    addHeader: (name, value) => {
      const values = isArray(value) ? value : [value];
      for (let i = 0; i < values.length; i++) {
        headers[headers.length] = { name: '' + name, value: '' + values[i] };
      }
    },
  };
  return {
    args: (args) => [args[0], response],
    outcome: () => ({ status, body, headers }),
  };
})
