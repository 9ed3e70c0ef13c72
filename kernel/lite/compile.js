// Compiler starts the worker that compiles CUDA C++ when the first cell needs it, and hands
// it the requests of package gpu/compile. It belongs to the worker of a notebook.
"use strict";

(() => {
	// limit ends a compilation that hangs, as package clang does natively. It counts from the
	// last that the worker said: a compiler that is still coming does not hang.
	const limit = 5 * 60 * 1000;

	class Compiler {
		// say gets the text of a progress line, "" when there is none any more.
		constructor(say) {
			this.say = say;
			this.lastID = 0;
			this.open = new Map(); // id: function that gets the reply
		}

		// compile calls done with the reply to a request, both as JSON, and returns a function
		// that ends the compilation: the worker ends, too, because clang listens to nothing.
		compile(request, done) {
			const id = ++this.lastID;
			this.open.set(id, done);
			if (!this.worker) this.begin();
			this.wait();
			this.worker.postMessage({ id, request });
			return () => {
				if (!this.open.delete(id)) return;
				this.lose("another cell was interrupted while this one was compiled: run it again");
			};
		}

		// wait begins the limit again, if a compilation is open.
		wait() {
			clearTimeout(this.hangs);
			if (this.open.size) this.hangs = setTimeout(() => this.lose("the compiler did not end within 5 minutes and was ended: make the source smaller, or its templates less deep"), limit);
		}

		begin() {
			const worker = this.worker = new Worker(new URL("compiler.js", globalThis.location.href));
			worker.onmessage = ({ data }) => {
				if (worker !== this.worker) return;
				if (data.progress !== undefined) {
					this.wait();
					this.say(data.progress);
					return;
				}
				const done = this.open.get(data.id);
				this.open.delete(data.id);
				this.wait();
				this.say(""); // before the cell can end
				if (done) done(data.reply);
				if (data.over) this.lose("the compiler ended: run the cell again");
			};
			worker.onerror = (e) => {
				e.preventDefault();
				if (worker === this.worker) this.lose(`the compiler did not start (${e.message || "no reason was given"}): reload this page`);
			};
		}

		// lose ends the worker and answers what is open; the next request starts another.
		lose(sentence) {
			this.worker?.terminate();
			this.worker = null;
			this.say("");
			const open = [...this.open.values()];
			this.open.clear();
			this.wait();
			for (const done of open) done(JSON.stringify({ Missing: true, Error: sentence }));
		}
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { Compiler });
})();
