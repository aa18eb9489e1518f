// `process`: the little of it that packages look at.
(function () {
  'use strict';
  const start = Date.now();
  const hrtime = (since) => {
    const milliseconds = Date.now() - start;
    const now = [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1e6];
    if (since === undefined) return now;
    const nanoseconds = now[1] - since[1];
    return nanoseconds < 0 ? [now[0] - since[0] - 1, nanoseconds + 1e9] : [now[0] - since[0], nanoseconds];
  };
  hrtime.bigint = () => BigInt(Date.now() - start) * 1000000n;
  return {
    env: {}, argv: [], platform: 'linux', version: 'v10.18.1', versions: { node: '10.18.1' }, pid: 1, hrtime,
    nextTick: (callback, ...args) => { Promise.resolve().then(() => callback(...args)); },
    cwd: () => '/', on: () => undefined, emitWarning: () => undefined,
  };
})
