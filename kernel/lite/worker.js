// The web worker of one notebook. The page sends {start: {files, folder}} once, then
// {request} with requests of package kernel/cellproto, and gets {event}, {failed}
// with one sentence, or {ended} with an exit status and a text.
"use strict";

importScripts("wasm_exec.js", "files.js", "vectors.js", "program.js", "compile.js");

let program;
const post = (message) => postMessage(message);

onmessage = async ({ data }) => {
	if (data.request) {
		program.request(data.request);
		return;
	}
	try {
		await start(data.start);
	} catch (e) {
		post({ failed: warpbook.sentence(e) });
	}
};

async function start({ files, folder }) {
	program = new warpbook.Program({
		deliver: (event) => {
			if (event.type === "ready" || event.type === "done") event.memory = program.memory.buffer.byteLength;
			post({ event });
		},
		ended: (status, text) => post({ ended: { status, text } }),
	});
	const compiler = new warpbook.Compiler((text) => program.say(text));
	globalThis.warpbookCompile = (request, done) => compiler.compile(request, done);
	const module = warpbook.compile(new URL("cells.wasm.gz", location.href));
	await Promise.all(files.map(async ({ path, url }) => {
		const reply = await fetch(url);
		if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
		program.files.add(path, new Uint8Array(await reply.arrayBuffer()));
	}));
	if (folder !== "/") program.files.add(folder + "/.keep", new Uint8Array(0));
	await program.start(await module, folder);
}
