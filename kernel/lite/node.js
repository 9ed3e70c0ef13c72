// Runs cells in Node: node node.js WASM_EXEC WASM < steps. Each line of the standard
// input is a request; with "after": "stream" an interrupt is sent at the cell's first
// output. Each line of the output is an event, and the last one is {"type": "memory"}.
"use strict";

const fs = require("fs"), node = process;
const [, , wasmExec, wasm] = node.argv;
const steps = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const print = (event) => fs.writeSync(1, JSON.stringify(event) + "\n");
require(wasmExec);
require("./files.js");
require("./vectors.js");
require("./program.js");

let at = 0, began, stopped;
function next() {
	if (at === steps.length) {
		print({ type: "memory", bytes: program.memory.buffer.byteLength });
		node.exit(0);
	}
	stopped = false;
	began = performance.now();
	program.request({ ...steps[at], id: ++at, cell: at });
}

const program = new globalThis.warpbook.Program({
	pause: setImmediate, // Node handles 1000 messages of a channel before it looks at timers
	deliver(event) {
		if (event.type === "done" && event.id !== at) return; // of the interrupt
		if (event.type === "done") event.ms = Math.round(performance.now() - began);
		print(event);
		if (event.type === "done" || event.type === "ready") setImmediate(next);
		const step = steps[at - 1];
		if (event.type === "stream" && step && step.after === "stream" && !stopped) {
			stopped = true;
			setTimeout(() => program.request({ type: "interrupt", id: 1e6 }), 50);
		}
	},
	ended(status, text) {
		print({ type: "ended", status, text });
		node.exit(1);
	},
});
const files = node.env.WARPBOOK_FILES ? fs.readdirSync(node.env.WARPBOOK_FILES, { recursive: true }) : [];
for (const name of files.filter((name) => /\.(ptx|run)$/.test(name))) {
	program.files.add("/notebooks/" + name, new Uint8Array(fs.readFileSync(node.env.WARPBOOK_FILES + "/" + name)));
}
program.files.add("/notebooks/.keep", new Uint8Array(0));
WebAssembly.compile(fs.readFileSync(wasm)).then((module) => program.start(module, "/notebooks"));
