// Keeps all files of the site, so that it works offline after the first visit. It stands
// in place of JupyterLite's service worker, which forgets its setting when the browser
// stops it; its file system and its input for kernels of Emscripten are not needed here.
"use strict";

const version = "{{VERSION}}", files = [/*{{FILES}}*/];
const name = "warpbook-" + version;

async function keep() {
	const cache = await caches.open(name);
	for (let at = 0; at < files.length; at += 16) {
		await Promise.all(files.slice(at, at + 16).map(async (file) => {
			const url = new URL(file, registration.scope);
			const reply = await fetch(url, { cache: "no-cache" });
			if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
			await cache.put(url, reply);
		}));
	}
}

async function forget() {
	for (const other of await caches.keys()) {
		if (other.startsWith("warpbook-") && other !== name) await caches.delete(other);
	}
	await clients.claim();
}

async function answer(request) {
	const url = new URL(request.url);
	if (url.pathname.endsWith("/")) url.pathname += "index.html";
	const kept = await (await caches.open(name)).match(url, { ignoreSearch: true });
	return kept || fetch(request);
}

addEventListener("install", (e) => { skipWaiting(); e.waitUntil(keep()); });
addEventListener("activate", (e) => e.waitUntil(forget()));
addEventListener("fetch", (e) => {
	const url = new URL(e.request.url);
	if (url.origin !== location.origin) return;
	if (url.pathname.endsWith("/api/service-worker-heartbeat")) e.respondWith(new Response("ok"));
	else if (e.request.method === "GET") e.respondWith(answer(e.request));
});
