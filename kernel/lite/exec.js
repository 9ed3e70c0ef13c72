// Runs a Go program for js/wasm in Node with the imports that the build tag simd128 needs:
// GOOS=js GOARCH=wasm go test -tags simd128 -exec "node --stack-size=8192 $PWD/kernel/lite/exec.js WASM_EXEC" ./gpu/emu/...
"use strict";

const node = process;
const [, , wasmExec, wasm, ...args] = node.argv;
globalThis.fs = require("fs");
globalThis.path = require("path");
require(wasmExec);
require("./vectors.js");

const go = new Go();
go.argv = [wasm, ...args];
go.env = { TMPDIR: require("os").tmpdir(), ...node.env };
go.exit = node.exit;
let memory;
Object.assign(go.importObject, globalThis.warpbook.vectors(() => memory));
WebAssembly.instantiate(globalThis.fs.readFileSync(wasm), go.importObject).then(({ instance }) => {
	memory = instance.exports.mem;
	node.on("exit", (code) => { // nothing is left to wait for
		if (code === 0 && !go.exited) {
			go._pendingEvent = { id: 0 };
			go._resume(); // Go prints the deadlock
		}
	});
	return go.run(instance);
}).catch((e) => {
	console.error(e);
	node.exit(1);
});
