// A server, with a worker that waits for memory.
const { Worker, isMainThread } = require('worker_threads');
if (isMainThread) {
	require('http').createServer(() => {}).listen(0, '127.0.0.1');
	if (process.argv[2]) new Worker(__filename);
} else {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
