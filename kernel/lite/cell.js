// The page with one cell: the smallest client of the worker, without JupyterLab. An address
// that ends in #code=TEXT, percent-encoded, shows this cell; only a click runs it.
"use strict";

const $ = (id) => document.getElementById(id);
const state = (text) => { $("state").textContent = text; };
const began = performance.now();
const starting = warpbook.answering.then(() => new warpbook.Client({ worker: "program/worker.js", folder: "/notebooks", restarted: state }));
starting.then((client) => client.ready)
	.then(() => state(`ready after ${((performance.now() - began) / 1000).toFixed(1)} s`), (e) => state(e.message));
let cell = 0;

// linked shows the cell of the address, if it has one.
function linked() {
	const code = /^#code=(.*)/s.exec(location.hash)?.[1];
	if (code === undefined) return;
	try {
		$("code").value = decodeURIComponent(code);
	} catch {
		$("out").textContent = "";
		text("error", "The link is damaged: its code is not percent-encoded UTF-8. Ask for the link again.");
	}
}

// Printed is what a cell printed to a stream. After "\r" text replaces the line from its start.
class Printed {
	constructor(kind) {
		this.pre = document.createElement("pre");
		this.pre.className = kind;
		this.line = this.pre.appendChild(new Text());
		this.at = 0; // in the line
		$("out").append(this.pre);
	}

	add(text) {
		for (const part of text.split(/(\r\n|\r|\n)/)) {
			if (part === "\r") this.at = 0;
			else if (part === "\n" || part === "\r\n") {
				this.line.data += "\n";
				this.line = this.pre.appendChild(new Text());
				this.at = 0;
			} else if (part) {
				this.line.data = this.line.data.slice(0, this.at) + part + this.line.data.slice(this.at + part.length);
				this.at += part.length;
			}
		}
		if (this.at === 0 && !this.line.data.trim()) this.line.data = ""; // a progress line that is over
	}
}

let printed; // the last output, if it is of a stream
function text(kind, value) {
	if (printed?.pre !== $("out").lastElementChild || printed?.pre.className !== kind) printed = new Printed(kind);
	printed.add(value);
}

function bundle(data) {
	const div = document.createElement("div");
	if (data["image/svg+xml"]) div.innerHTML = data["image/svg+xml"];
	else if (data["image/png"]) {
		const image = document.createElement("img");
		image.alt = "an image of the cell";
		image.src = "data:image/png;base64," + data["image/png"];
		div.append(image);
	} else if (data["text/html"]) div.innerHTML = data["text/html"];
	else {
		text("value", data["text/plain"] || "");
		return;
	}
	$("out").append(div);
}

$("run").onclick = async () => {
	$("out").textContent = "";
	state("running");
	const from = performance.now();
	let client, done;
	try {
		client = await starting;
		done = await client.execute(++cell, $("code").value, (e) => {
			if (e.type === "stream") text(e.name, e.text);
			else if (e.type === "display") bundle(e.data);
			else if (e.type === "clear") $("out").textContent = "";
			else if (e.type === "input") client.reply(e.id, prompt(e.text) || "");
		});
	} catch (e) {
		state(e.message);
		return;
	}
	if (done.data) bundle(done.data);
	if (done.error) text("error", done.error.traceback.join("\n"));
	state(`cell ${cell} took ${(performance.now() - from).toFixed(1)} ms; the program has ${Math.round(client.memory / 1e6)} MB`);
	warpbook.keep().catch(() => { }); // the page works with a connection
};
$("stop").onclick = async () => (await starting).interrupt();
$("complete").onclick = async () => {
	const code = $("code").value, at = [...code.slice(0, $("code").selectionStart)].length;
	const done = await (await starting).request({ type: "complete", code, cursor: at });
	$("out").textContent = "";
	text("matches", (done.matches || []).map((m) => m.text).join("\n") || "no completion");
};
$("link").onclick = () => {
	history.replaceState(null, "", "#code=" + encodeURIComponent($("code").value));
	state("the address of this page is the link");
};
addEventListener("hashchange", linked);
linked();
