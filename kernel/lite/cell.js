// The page with one cell: the smallest client of the worker, without JupyterLab.
"use strict";

const $ = (id) => document.getElementById(id);
const state = (text) => { $("state").textContent = text; };
const client = new warpbook.Client({ worker: "program/worker.js", folder: "/notebooks", restarted: state });
const began = performance.now();
client.ready.then(() => state(`ready after ${((performance.now() - began) / 1000).toFixed(1)} s`), (e) => state(e.message));
let cell = 0;

function text(kind, value) {
	const last = $("out").lastElementChild;
	if (last && last.className === kind && kind.startsWith("std")) {
		last.append(value);
		return;
	}
	const pre = document.createElement("pre");
	pre.className = kind;
	pre.append(value);
	$("out").append(pre);
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
	const done = await client.execute(++cell, $("code").value, (e) => {
		if (e.type === "stream") text(e.name, e.text);
		else if (e.type === "display") bundle(e.data);
		else if (e.type === "clear") $("out").textContent = "";
		else if (e.type === "input") client.reply(e.id, prompt(e.text) || "");
	});
	if (done.data) bundle(done.data);
	if (done.error) text("error", done.error.traceback.join("\n"));
	state(`cell ${cell} took ${(performance.now() - from).toFixed(1)} ms; the program has ${Math.round(client.memory / 1e6)} MB`);
};
$("stop").onclick = () => client.interrupt();
$("complete").onclick = async () => {
	const code = $("code").value, at = [...code.slice(0, $("code").selectionStart)].length;
	const done = await client.request({ type: "complete", code, cursor: at });
	$("out").textContent = "";
	text("matches", (done.matches || []).map((m) => m.text).join("\n") || "no completion");
};
