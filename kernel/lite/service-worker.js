// Keeps the files of the site, so that it works offline. It stands in place of JupyterLite's
// service worker, which forgets its setting when the browser stops it; its file system and
// its input for kernels of Emscripten are not needed here.
//
// A file that a page asks for is kept when it has come. The others follow when a page says
// that it needs nothing more itself: {keep: true}, answered by {left}, the number of files
// that are still missing, and {failed}. What is on demand is kept only when it was asked for.
"use strict";

const version = "{{VERSION}}", files = [/*{{FILES}}*/]; // in the order in which they are brought
const onDemand = [/*{{ON DEMAND}}*/]; // what begins so
const policies = {/*{{POLICIES}}*/}; // by the beginning of a path, "" for all others
const name = "warpbook-" + version;
const complete = new URL("complete", registration.scope); // is in the cache when all files are

const absolute = (file) => new URL(file, registration.scope).href;
const listed = new Set(files.map(absolute)), starts = onDemand.map(absolute);
const belongs = (url) => listed.has(url) || starts.some((start) => url.startsWith(start));

// flying are the files that are coming, by address: nothing is fetched twice.
const flying = new Map();

// bring fetches a file once for all that ask for it, and keeps it. A full disk loses no
// reply, and a page sees how much of a long one has come. kept ends when it is in the cache.
function bring(url) {
	let file = flying.get(url);
	if (!file) {
		const reply = fetch(url, { cache: "no-cache" });
		const kept = (async () => {
			try {
				const whole = (await reply).clone();
				if (whole.ok) await (await caches.open(name)).put(url, whole);
				return whole.ok;
			} finally {
				flying.delete(url);
			}
		})();
		kept.catch(() => { }); // answer needs only the reply
		file = { reply, kept };
		flying.set(url, file);
	}
	return file;
}

// keep brings the files that are missing: the program alone, the others some at a time. A
// later request to keep, or a page that opens, stops it; the next request goes on.
let keeping = 0;
const waiting = new Set(); // what the pages want to hear
async function keep() {
	const mine = ++keeping;
	const cache = await caches.open(name);
	const kept = new Set((await cache.keys()).map((request) => request.url));
	const missing = files.map(absolute).filter((url) => !kept.has(url));
	let left = missing.length;
	const queue = missing.values();
	const lane = async (most) => {
		for (const url of queue) {
			if (mine !== keeping) return;
			tell({ left });
			if (!await bring(url).kept) throw new Error(`${url} could not be loaded`);
			left--;
			if (--most === 0) return;
		}
	};
	await lane(1);
	await Promise.all(Array.from({ length: 6 }, () => lane(Infinity)));
	if (left > 0) return;
	await cache.put(complete, new Response());
	await forget();
	tell({ left });
	waiting.clear();
}

const tell = (message) => waiting.forEach((port) => port.postMessage(message));

async function forget() {
	for (const other of await caches.keys()) {
		if (other.startsWith("warpbook-") && other !== name) await caches.delete(other);
	}
}

// install brings a newer version whole, while pages go on with the older one. The first
// version answers at once.
async function install() {
	const others = (await caches.keys()).filter((other) => other.startsWith("warpbook-") && other !== name);
	for (const other of others) {
		if (await (await caches.open(other)).match(complete)) {
			await keep();
			break;
		}
	}
	await skipWaiting();
}

async function answer(e) {
	const { request } = e;
	const url = new URL(request.url);
	url.search = url.hash = "";
	if (url.pathname.endsWith("/")) url.pathname += "index.html";
	if (!belongs(url.href)) return fetch(request);
	const kept = await (await caches.open(name)).match(url.href);
	if (kept) return guarded(url.href, kept);
	const file = bring(url.href);
	e.waitUntil(file.kept.catch(() => { })); // fetched again next time
	return guarded(url.href, (await file.reply).clone());
}

// guarded gives a page or a worker its policy: a worker does not have that of its page.
function guarded(url, reply) {
	if (!/html|javascript/.test(reply.headers.get("Content-Type"))) return reply;
	const start = Object.keys(policies).find((start) => start && url.startsWith(absolute(start))) || "";
	const headers = new Headers(reply.headers);
	headers.set("Content-Security-Policy", policies[start]);
	return new Response(reply.body, { status: reply.status, statusText: reply.statusText, headers });
}

addEventListener("install", (e) => e.waitUntil(install()));
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("message", (e) => {
	if (!e.data.keep) return;
	waiting.add(e.ports[0]);
	e.waitUntil(keep().catch((error) => {
		tell({ failed: error.message });
		waiting.clear();
	}));
});
addEventListener("fetch", (e) => {
	const url = new URL(e.request.url);
	if (url.origin !== location.origin) e.respondWith(Response.error()); // nothing is sent
	else if (url.pathname.endsWith("/api/service-worker-heartbeat")) e.respondWith(new Response("ok"));
	else if (e.request.method === "GET") {
		if (e.request.mode === "navigate") keeping++; // the page comes first
		e.respondWith(answer(e));
	}
});
