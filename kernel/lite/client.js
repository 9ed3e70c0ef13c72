// Client drives the worker of one notebook from a page: a request at a time is answered
// by its events. It needs program.js for its sentences.
"use strict";

(() => {
	// patience is how long a cell may go on after an interrupt before the worker is
	// started again. Loops of cells and of the emulator look every 20 ms; compiled code,
	// such as a sort of many values, does not look.
	const patience = 5000;

	class Client {
		// options: worker: URL of worker.js; files: [{path, url}]; folder; late: gets events of
		// no request; restarted: gets a sentence when the worker was lost.
		constructor(options) {
			this.options = options;
			this.lastID = 0;
			this.open = new Map(); // id: {request, event, done}
			this.begin();
		}

		begin() {
			let started = false; // a program that never started is not started again
			this.ready = new Promise((resolve, reject) => {
				const lacking = globalThis.warpbook.missing();
				if (lacking) {
					reject(new Error(lacking));
					return;
				}
				try {
					this.worker = new Worker(this.options.worker);
				} catch (e) {
					reject(new Error(`The browser refuses a web worker (${e.message}): allow workers for this site, or serve the site over http.`));
					return;
				}
				const worker = this.worker;
				worker.onerror = (e) => {
					e.preventDefault();
					const why = `The worker of the Go kernel did not start or failed (${e.message || "no reason was given"}): allow workers for this site and reload this page.`;
					reject(new Error(why));
					if (started && worker === this.worker) this.lose(why);
				};
				worker.onmessage = ({ data }) => {
					if (worker !== this.worker) return;
					if (data.failed) reject(new Error(data.failed));
					else if (data.ended) {
						const why = `The Go program ended with status ${data.ended.status}: ${data.ended.text.trim().split("\n")[0] || "no reason was given"}.`;
						if (started) this.lose(`${why} It was started again; its variables are lost.`);
						else reject(new Error(`${why} Reload this page.`));
					} else if (data.event.type === "ready") {
						started = true;
						this.memory = data.event.memory;
						resolve();
					} else this.event(data.event);
				};
				worker.postMessage({ start: { files: this.options.files || [], folder: this.options.folder || "/" } });
			});
			this.ready.catch(() => { });
		}

		event(e) {
			if (e.memory) this.memory = e.memory;
			const open = this.open.get(e.id);
			if (!open) {
				if (this.options.late) this.options.late(e);
				return;
			}
			if (e.type !== "done") {
				if (open.event) open.event(e);
				return;
			}
			this.open.delete(e.id);
			open.done(e);
		}

		// request sends a request and returns the event that answers it.
		async request(request, event) {
			await this.ready;
			const id = ++this.lastID;
			return new Promise((done) => {
				this.open.set(id, { request, event, done });
				this.worker.postMessage({ request: { ...request, id } });
			});
		}

		// execute runs a cell; place is the page's name of the cell, the same when it runs again.
		execute(cell, code, event, silent = false, place = undefined) { return this.request({ type: "execute", cell, code, silent, place }, event); }

		reply(id, text) { this.worker.postMessage({ request: { type: "reply", id, text } }); }

		// refuse answers a question of a cell with the reason why there is no text.
		refuse(id, error) { this.worker.postMessage({ request: { type: "reply", id, error } }); }

		// interrupt ends the running cells, and restarts the worker if they go on.
		async interrupt() {
			const cells = [...this.open.values()].filter((o) => o.request.type === "execute");
			if (!cells.length) return;
			this.worker.postMessage({ request: { type: "interrupt", id: ++this.lastID } });
			await new Promise((resolve) => setTimeout(resolve, patience));
			if (cells.some((o) => [...this.open.values()].includes(o))) {
				this.lose(`The cell did not end within ${patience / 1000} s of the interrupt, so the Go program was started again; its variables are lost.`);
			}
		}

		// lose ends the worker, answers what is open, and begins again.
		lose(sentence) {
			this.worker?.terminate();
			const open = [...this.open.entries()];
			this.open.clear();
			this.begin();
			for (const [id, o] of open) o.done({ id, type: "done", error: { ename: "kernel restarted", evalue: sentence, traceback: [sentence] } });
			if (this.options.restarted) this.options.restarted(sentence);
		}

		restart() { this.lose("The Go program was started again; its variables are lost."); }

		dispose() {
			this.open.clear();
			this.worker?.terminate();
		}
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { Client });
})();
