// Compiled and interpreted code waits below functions of the runtime.
const cell = new Int32Array(new SharedArrayBuffer(4));
function waits(n) { return n ? waits(n - 1) : Atomics.wait(cell, 0, 0); }
function adds(a, b) { return a + b; }
for (let i = 0; i < 1e5; i++) adds(i, i);
[3, 1, 2].sort((a, b) => waits(10));
