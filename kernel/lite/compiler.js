// The worker that compiles CUDA C++: clang of the npm package @yowasp/clang makes
// intermediate code, of which the program compiler.wasm makes PTX. It gets {id, request} and
// answers {id, reply}; both texts are JSON of package compiler. {progress} says how much of
// clang has come. Both programs are kept in memory from then on.
"use strict";

importScripts("wasm_exec.js", "program.js");

const network = globalThis.fetch.bind(globalThis);
let loaded;

// Absent is an answer of the server that is not the file.
class Absent extends Error { }

// fetch gives clang's loader the compressed files of the site, and no headers of its own:
// those of CUDA are the program's.
globalThis.fetch = async (input, init) => {
	const url = String(input.url || input);
	if (url.endsWith("/llvm-resources.tar")) return new Response(new Uint8Array(1024));
	if (!url.includes("/clang/") || !url.endsWith(".wasm")) return network(input, init);
	const reply = await network(url + ".gz");
	if (!reply.ok) throw new Absent(`${url}.gz: ${reply.status} ${reply.statusText}`);
	return new Response(await warpbook.unpacked(counted(reply)), { headers: { "Content-Type": "application/wasm" } });
};

// counted is the body of a reply that tells how much of it has come.
function counted(reply) {
	const total = Number(reply.headers.get("Content-Length"));
	let bytes = 0, said = 0;
	return reply.body.pipeThrough(new TransformStream({
		transform(part, to) {
			to.enqueue(part);
			bytes += part.length;
			if (bytes - said < 1e6) return;
			said = bytes;
			const of = total > bytes ? ` of ${(total / 1e6).toFixed(0)}` : "";
			postMessage({ progress: `loading the compiler, once: ${(bytes / 1e6).toFixed(0)}${of} MB` });
		},
	}));
}

// load starts the program and clang.
async function load() {
	postMessage({ progress: "loading the compiler, once" });
	const base = new URL(".", location.href);
	const go = new Go();
	const [module, clang] = await Promise.all([warpbook.compile(new URL("compiler.wasm.gz", base)), import(new URL("clang/bundle.js", base).href)]);
	go.run(await WebAssembly.instantiate(module, go.importObject));
	postMessage({ progress: "starting the compiler" });
	await clang.runLLVM(null, {}, { fetchProgress: () => { } });
	return clang;
}

// tree makes folders of files by path.
function tree(files) {
	const root = {};
	for (const [path, text] of Object.entries(files)) {
		const folders = path.split("/"), name = folders.pop();
		let at = root;
		for (const folder of folders) at = at[folder] ||= {};
		at[name] = text;
	}
	return root;
}

const commands = new Map(); // command lines of clang's front end by clang's arguments

// frontEnd is the command line of clang's front end for arguments of clang, which say the same
// for every source. Each question starts clang, which takes longer than most compilations.
async function frontEnd(clang, args, stderr) {
	const key = JSON.stringify(args);
	if (commands.has(key)) return commands.get(key);
	const decoder = new TextDecoder();
	let answer = "";
	const said = (bytes) => { if (bytes) answer += decoder.decode(bytes, { stream: true }); };
	try {
		await clang.runLLVM(["clang", "-###", ...args], { "in.cu": "" }, { stdout: said, stderr: said });
	} catch (e) {
		stderr(new TextEncoder().encode(answer));
		throw e;
	}
	const line = answer.split("\n").find((line) => line.startsWith(' "'));
	if (!line) throw new Error(`clang names no command: ${answer}`);
	// The first word is "", for a program in this process.
	const words = [...line.matchAll(/ (?:([^ "]+)|"((?:[^"\\$]|\\["\\$])+)")/g)].map((m) => m[1] ?? m[2].replace(/\\(["\\$])/g, "$1"));
	commands.set(key, words);
	return words;
}

// whyNotLoaded says why the compiler did not start, with the remedy.
function whyNotLoaded(e) {
	if (noMemory(e)) return "the compiler needs more memory than the tab has: close other tabs, and run the cell again";
	if (e instanceof WebAssembly.CompileError || e instanceof WebAssembly.LinkError) return `this browser cannot run the compiler (${e.message}): use a newer browser`;
	if (e instanceof Absent || /\b404\b/.test(e.message)) return `the site lacks a part of the compiler (${e.message}): have the site built again`;
	return `the compiler could not be loaded (${e.message}): check the connection, and run the cell again`;
}

// whyEnded says why clang ended without a result.
function whyEnded(e, log) {
	if (noMemory(e) || /out of memory|bad alloc/i.test(log)) return "the compiler needs more memory than the tab has: make the source smaller, its templates less deep, or close other tabs";
	if (e instanceof RangeError) return "the compiler's stack is full: nest templates and brackets less deep";
	return `the compiler crashed (${String(e.message).split("\n")[0]}): make the source smaller, or its templates less deep; nothing else is lost`;
}

// "memory access out of bounds" is a crash.
const noMemory = (e) => /out of memory|could not allocate|cannot allocate|allocation failed/i.test(e.message);

async function compile(request) {
	loaded ||= load();
	let clang;
	try {
		clang = await loaded;
	} catch (e) {
		throw new Error(whyNotLoaded(e));
	}
	postMessage({ progress: "compiling" });
	const prepared = globalThis.warpbookPrepare(request);
	const job = JSON.parse(prepared);
	if (job.Error) return prepared;
	const decoder = new TextDecoder();
	let log = "", code = "";
	const stderr = (bytes) => { if (bytes) log += decoder.decode(bytes, { stream: true }); };
	try {
		const command = await frontEnd(clang, [...job.Args, "-o", "/out.ll", "/in.cu"], stderr);
		const files = await clang.runLLVM(command, { "in.cu": job.Source, cuda: tree(job.Headers) }, { stdout: null, stderr });
		code = files["out.ll"];
	} catch (e) {
		if (e.code === undefined) throw new Error(whyEnded(e, log)); // not by its own exit
	}
	if (typeof code !== "string") code = new TextDecoder().decode(code);
	return globalThis.warpbookFinish(request, code, log);
}

let last = Promise.resolve(); // one compilation at a time

onmessage = ({ data: { id, request } }) => {
	last = last.then(async () => {
		try {
			postMessage({ id, reply: await compile(request) });
		} catch (e) {
			postMessage({ id, reply: JSON.stringify({ Missing: true, Error: e.message }), over: true });
		}
	});
};
