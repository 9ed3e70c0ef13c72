package lite

import "testing"

// workerInNode runs the service worker in Node: a cache keeps a reply in one of three ways, and
// log has what was fetched and what was kept.
const workerInNode = `
const how = process.argv[1], log = [], handlers = {}, store = new Map();
const cache = {
	put: {
		well: async (url, reply) => { store.set(String(url), reply); log.push("kept " + new URL(url).pathname); },
		full: async () => { throw new DOMException("the disk is full", "QuotaExceededError"); },
		slow: () => new Promise(() => { }),
	}[how],
	match: async (url) => store.get(String(url))?.clone(),
	keys: async () => [...store.keys()].map((url) => ({ url })),
};
globalThis.location = { origin: "http://host" };
globalThis.registration = { scope: "http://host/" };
globalThis.caches = { open: async () => cache, keys: async () => [] };
globalThis.fetch = async (input) => {
	const { pathname } = new URL(input.url || input);
	log.push("fetched " + pathname);
	return new Response("bytes of " + pathname, { headers: { "Content-Type": pathname.endsWith(".js") ? "text/javascript" : "application/gzip" } });
};
globalThis.addEventListener = (name, handler) => { handlers[name] = handler; };
const lists = { "[/*{{FILES}}*/]": ["program/cells.wasm.gz", "lab/a.js", "files/b.ipynb"], "[/*{{ON DEMAND}}*/]": ["program/clang/", "reports/"], "{/*{{POLICIES}}*/}": { "": "all", "lab/": "of lab" } };
let text = require("fs").readFileSync("service-worker.js", "utf8");
for (const [place, value] of Object.entries(lists)) text = text.replace(place, JSON.stringify(value));
require("vm").runInThisContext(text);

const later = [];
const ask = (path, mode = "cors", origin = "http://host") => {
	let reply;
	handlers.fetch({ request: { url: origin + path, method: "GET", mode }, respondWith: (r) => { reply = r; }, waitUntil: (p) => later.push(p) });
	return reply;
};
const keepAll = () => new Promise((done) => {
	handlers.message({ data: { keep: true }, ports: [{ postMessage: (m) => { if (m.failed || m.left === 0) done(m.failed || "all"); } }], waitUntil() { } });
});
`

// inNode runs a script behind workerInNode, and returns what it prints.
func inNode(t *testing.T, how, script string) string {
	t.Helper()
	return runScript(t, workerInNode+"(async () => {"+script+"})()", how)
}

// TestServiceWorker: a reply neither waits for the cache nor fails with it.
func TestServiceWorker(t *testing.T) {
	const script = `
const text = await (await ask("/program/clang/llvm.wasm.gz")).text();
if (how !== "slow") await Promise.all(later);
console.log([text, ...log].join(", "));
`
	const fetched = "bytes of /program/clang/llvm.wasm.gz, fetched /program/clang/llvm.wasm.gz"
	for how, want := range map[string]string{"well": fetched + ", kept /program/clang/llvm.wasm.gz", "full": fetched, "slow": fetched} {
		if got := inNode(t, how, script); got != want {
			t.Errorf("%s: %q, expected %q", how, got, want)
		}
	}
}

// TestServiceWorkerOrder: the program comes first, alone; a file that a page asks for meanwhile
// is fetched once; a page that opens stops the rest until it asks for it; reports come when
// they are opened; other sites are refused; pages and workers get their policies.
func TestServiceWorkerOrder(t *testing.T) {
	for script, want := range map[string]string{
		`console.log(await keepAll(), log.join(", "))`: "all fetched /program/cells.wasm.gz, kept /program/cells.wasm.gz, fetched /lab/a.js, fetched /files/b.ipynb, kept /lab/a.js, kept /files/b.ipynb, kept /complete",
		`const all = keepAll(); await Promise.all([all, ask("/program/cells.wasm.gz").then((r) => r.text())]); console.log(log.filter((l) => l === "fetched /program/cells.wasm.gz").length)`:                                                            "1",
		`const all = keepAll(); await ask("/lab/a.js", "navigate"); await new Promise((r) => setTimeout(r, 50)); const before = log.join(" "); await keepAll(); await all; console.log(before.includes("files/b"), log.includes("kept /files/b.ipynb"))`: "false true",
		`await (await ask("/reports/r.html")).text(); await Promise.all(later); console.log(log.join(", "))`:                                                                                                                                             "fetched /reports/r.html, kept /reports/r.html",
		`console.log((await ask("/x", "cors", "http://other")).type, log.length)`:                                                                                                                                                                        "error 0",
		`console.log((await ask("/lab/a.js")).headers.get("Content-Security-Policy"), (await ask("/program/cells.wasm.gz")).headers.get("Content-Security-Policy"))`:                                                                                     "of lab null",
	} {
		if got := inNode(t, "well", script); got != want {
			t.Errorf("%s: %q, expected %q", script, got, want)
		}
	}
}
