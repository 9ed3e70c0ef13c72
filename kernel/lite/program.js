// Program runs the cells program of this repository, compiled to WebAssembly, in a web
// worker or in Node, and speaks the frames of package kernel/cellproto with it. It needs
// files.js, vectors.js and Go's wasm_exec.js first.
"use strict";

(() => {
	const encoder = new TextEncoder(), decoder = new TextDecoder();

	// encode makes one frame of a request.
	function encode(request) {
		const body = encoder.encode(JSON.stringify(request));
		const frame = new Uint8Array(4 + body.length);
		new DataView(frame.buffer).setUint32(0, body.length);
		frame.set(body, 4);
		return frame;
	}

	// Decoder makes events of bytes. The large texts of an event follow its JSON.
	class Decoder {
		constructor(deliver) {
			this.deliver = deliver;
			this.bytes = new Uint8Array(0);
		}

		add(part) {
			const bytes = new Uint8Array(this.bytes.length + part.length);
			bytes.set(this.bytes);
			bytes.set(part, this.bytes.length);
			this.bytes = bytes;
			while (this.next());
		}

		next() {
			if (this.bytes.length < 4) return false;
			const size = new DataView(this.bytes.buffer, this.bytes.byteOffset).getUint32(0);
			let end = 4 + size;
			if (this.bytes.length < end) return false;
			const event = JSON.parse(decoder.decode(this.bytes.subarray(4, end)));
			for (const { size } of event.large || []) end += size;
			if (this.bytes.length < end) return false;
			let at = 4 + size;
			for (const { key, size } of event.large || []) {
				event.data = event.data || {};
				event.data[key] = decoder.decode(this.bytes.subarray(at, at + size));
				at += size;
			}
			delete event.large;
			this.bytes = this.bytes.slice(end);
			this.deliver(event);
			return true;
		}
	}

	// channel calls functions as events of their own, without the 4 ms that a browser adds
	// to timers.
	function channel() {
		const { port1, port2 } = new MessageChannel();
		let waiting = [];
		port1.onmessage = () => { const now = waiting; waiting = []; now.forEach((f) => f()); };
		return (f) => { waiting.push(f); port2.postMessage(null); };
	}

	// crash cuts what the program wrote to its standard error down to the reason of its
	// end, which Go prints before the stacks of all goroutines, or to the last lines.
	function crash(text) {
		const at = Math.max(text.lastIndexOf("\nfatal error: "), text.lastIndexOf("\npanic: "));
		return at < 0 ? text.slice(-8192) : text.slice(at, at + 8192);
	}

	class Program {
		// pause calls its argument as an event of its own, and soon. deliver gets events.
		// ended is called once, with an exit status and the last text that the program
		// printed to its standard error.
		constructor({ deliver, ended, pause }) {
			this.deliver = deliver;
			this.ended = ended;
			this.running = []; // ids of executes, the first has the streams
			this.last = "\n";
			this.files = new globalThis.warpbook.Files((fd, bytes) => this.print(fd, bytes));
			this.files.add("/tmp/.keep", new Uint8Array(0));
			this.texts = { 1: new TextDecoder(), 2: new TextDecoder() };
			const decoder = new Decoder((event) => this.event(event));
			globalThis.fs = this.files.fs();
			globalThis.process = Object.assign(this.files.process(), globalThis.process ? { on: globalThis.process.on } : {});
			globalThis.path = { resolve: (...parts) => this.files.resolve(parts.join("/")) };
			globalThis.warpbookEvent = (bytes) => decoder.add(bytes);
			const later = pause || channel();
			globalThis.warpbookPause = (f) => later(() => this.enter(f));
		}

		// start runs a compiled module until it exits.
		async start(module, folder) {
			this.files.current = folder || "/";
			const go = this.go = new globalThis.Go();
			go.argv = ["cells"];
			// In WebAssembly the address of Go code is a function's number times 65536, and may
			// be one of the heap. Packages reflect and reflectx keep such addresses where the
			// collector expects pointers; it would end the program for one that lies in free
			// memory (golang.org/issue/80472), which notebook 01 did at 1.6 GB.
			go.env = { TMPDIR: "/tmp", HOME: "/", WARPBOOK_BROWSER: "1", GODEBUG: "invalidptr=0" };
			let status = 0;
			go.exit = (code) => { status = code; };
			Object.assign(go.importObject, globalThis.warpbook.vectors(() => this.memory));
			const instance = await WebAssembly.instantiate(module, go.importObject);
			this.memory = instance.exports.mem;
			go._resume = this.entered(go._resume.bind(go)); // of timers and of calls from the page
			try {
				await go.run(instance);
				this.end(status);
			} catch (e) {
				this.fail(e);
			}
		}

		// entered wraps a function that runs the program: an error of WebAssembly ends it.
		entered(f) {
			return (...args) => {
				if (this.over) return undefined;
				try {
					return f(...args);
				} catch (e) {
					this.fail(e);
				}
			};
		}

		enter(f) { this.entered(f)(); }

		fail(e) {
			this.last += e instanceof RangeError ? "the program's stack or memory is full: a cell recursed too deeply or holds too much" : String(e);
			this.end(2);
		}

		end(status) {
			if (this.over) return;
			this.over = true;
			if (/^\s*fatal error: .*(out of|cannot allocate) memory/.test(this.last)) this.last = "it needs more memory than the tab has: choose smaller sizes, or close other tabs";
			this.go._scheduledTimeouts.clear(); // their events would wait for the program for ever
			this.ended(status, this.last);
		}

		request(request) {
			if (request.type === "execute") {
				this.running.push(request.id);
				request = { ...request, pipes: true };
			}
			globalThis.warpbookRequest(encode(request));
		}

		event(event) {
			if (event.fence) {
				// Prints and events take one way, so that a display is delivered at once.
				delete event.fence;
				queueMicrotask(() => globalThis.warpbookRequest(encode({ id: event.id, type: "passed" })));
			}
			if (event.type === "stream" && !event.text) return;
			if (event.type === "done") this.running = this.running.filter((id) => id !== event.id);
			this.deliver(event);
		}

		// say shows a line in place of the one before, and none for "".
		say(text) {
			const width = (this.said || "").length;
			if (text || width) this.deliver({ id: this.running[0], type: "stream", name: "stderr", text: "\r" + text.padEnd(width) + (text ? "" : "\r") });
			this.said = text;
		}

		print(fd, bytes) {
			const text = this.texts[fd].decode(bytes, { stream: true });
			if (fd === 2) this.last = crash(this.last + text);
			if (text) this.deliver({ id: this.running[0], type: "stream", name: fd === 2 ? "stderr" : "stdout", text });
		}
	}

	// compile compiles a module while it comes. A server may send the file as it is, or
	// declare its compression, so that the browser removes it.
	async function compile(url) {
		const reply = await fetch(url);
		if (!reply.ok) throw new Error(`${url}: ${reply.status} ${reply.statusText}`);
		return WebAssembly.compileStreaming(new Response(await unpacked(reply.body), { headers: { "Content-Type": "application/wasm" } }));
	}

	// unpacked is a stream without its compression, if it still has it.
	async function unpacked(body) {
		const [look, whole] = body.tee();
		const reader = look.getReader();
		const { value } = await reader.read();
		reader.cancel();
		const packed = value && value[0] === 0x1f && value[1] === 0x8b;
		return packed ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
	}

	// missing returns a sentence with a remedy if this browser lacks a feature.
	function missing() {
		for (const name of ["WebAssembly", "Worker", "DecompressionStream", "MessageChannel"]) {
			if (!(name in globalThis)) return `This browser has no ${name}, which the Go kernel needs: use Chrome 103, Firefox 113, Safari 16.4 or a newer one.`;
		}
		return "";
	}

	// sentence says in one sentence why the program did not start, with the remedy.
	function sentence(e) {
		if (e instanceof RangeError || /memory/i.test(e.message)) return `The browser has too little memory for the Go kernel (${e.message}): close other tabs and reload this page.`;
		if (e instanceof WebAssembly.CompileError || e instanceof WebAssembly.LinkError) return `This browser cannot run the Go kernel (${e.message}): use a newer browser.`;
		return `The Go kernel could not be loaded (${e.message}): check the connection and reload this page.`;
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { missing, sentence, compile, unpacked, Program, encode, Decoder });
})();
