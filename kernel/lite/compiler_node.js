// Runs the compiler of a tab in Node: node compiler_node.js SITE < requests. SITE is a built
// site. Each line of the standard input is a request of package compiler; each line of the
// output is {reply, code, starts, ms}: the reply, clang's intermediate code, how often clang
// was started, and the time.
"use strict";

const fs = require("fs"), os = require("os"), path = require("path"), readline = require("readline"), url = require("url");
const node = process, program = path.join(node.argv[2], "program");

// Node takes clang's loader for a module only beside this package.json.
const work = fs.mkdtempSync(path.join(os.tmpdir(), "warpbook-compiler-"));
node.on("exit", () => fs.rmSync(work, { recursive: true }));
fs.mkdirSync(path.join(work, "clang"));
fs.copyFileSync(path.join(program, "clang/bundle.js"), path.join(work, "clang/bundle.js"));
fs.writeFileSync(path.join(work, "package.json"), '{"type": "module"}');

globalThis.process = undefined; // clang's loader would read its files by Node
globalThis.location = { href: url.pathToFileURL(path.join(work, "compiler.js")).href };
globalThis.fetch = async (input) => {
	const name = path.relative(work, url.fileURLToPath(String(input.url || input)));
	const bytes = fs.readFileSync(path.join(program, name));
	return new Response(bytes, { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream", "Content-Length": bytes.length } });
};
globalThis.importScripts = (...names) => names.forEach((name) => require(path.join(program, name)));
globalThis.onmessage = undefined;
let answered, code, starts;
globalThis.postMessage = (message) => message.reply === undefined || answered(message.reply);
let finish;
Object.defineProperty(globalThis, "warpbookFinish", {
	set(f) { finish = f; },
	get() { return (request, text, log) => finish(request, (code = text), log); },
});
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = (module, imports) => { // clang's loader makes a table without imports first
	if (!imports) starts++;
	return instantiate.call(WebAssembly, module, imports);
};
require("./compiler.js");

(async () => {
	for await (const line of readline.createInterface({ input: node.stdin })) {
		const from = performance.now();
		code = "";
		starts = 0;
		const reply = await new Promise((done) => {
			answered = done;
			globalThis.onmessage({ data: { id: 1, request: line } });
		});
		fs.writeSync(1, JSON.stringify({ reply: JSON.parse(reply), code, starts, ms: Math.round(performance.now() - from) }) + "\n");
	}
	node.exit(0); // the Go program waits
})();
