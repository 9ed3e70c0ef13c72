package lite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeLLVM is a package @yowasp/clang that misbehaves as the global how says: the names of
// load happen at its start, those of compile with a source.
const fakeLLVM = `
const fails = {
	memory: () => { throw new RangeError("WebAssembly.Memory(): could not allocate memory"); },
	absent: () => fetch(new URL("./llvm.core.wasm", import.meta.url)),
	unreachable: () => { throw new WebAssembly.RuntimeError("unreachable"); },
	bounds: () => { throw new WebAssembly.RuntimeError("memory access out of bounds"); },
	stack: () => { throw new RangeError("Maximum call stack size exceeded"); },
	exhausted: (say) => { say("LLVM ERROR: out of memory\n"); throw new WebAssembly.RuntimeError("unreachable"); },
	mistake: (say) => { say("x.cu(1): error: wrong\n"); throw Object.assign(new Error("exit"), { code: 1 }); },
	never: () => new Promise(() => { }),
};
export async function runLLVM(args, files, { stderr }) {
	const say = (text) => stderr(new TextEncoder().encode(text));
	if (!args) return fails[how.load]?.(say);
	if (args[1] === "-###") return say(' "" "-cc1"\n');
	await fails[how.compile]?.(say);
	return { "out.ll": "code" };
}
`

// compilerInNode runs compiler.js, whose Go program answers with what it got, and prints the
// reply to one request.
const compilerInNode = `
const [folder, here, load, compile] = process.argv.slice(1), path = require("path"), url = require("url");
globalThis.how = { load, compile };
globalThis.process = undefined;
globalThis.location = { href: url.pathToFileURL(path.join(folder, "compiler.js")).href };
globalThis.fetch = async (input) => {
	if (load === "offline") throw new TypeError("Failed to fetch");
	if (load === "site" || String(input).endsWith("llvm.core.wasm.gz")) return new Response("", { status: 404, statusText: "Not Found" });
	const bytes = load === "old" ? [0, 97, 115, 109, 9, 0, 0, 0] : [0, 97, 115, 109, 1, 0, 0, 0];
	return new Response(new Uint8Array(bytes), { headers: { "Content-Type": "application/wasm" } });
};
globalThis.Go = class {
	importObject = {};
	run() {
		globalThis.warpbookPrepare = () => JSON.stringify({ Args: [], Source: "", Headers: {} });
		globalThis.warpbookFinish = (request, code, log) => JSON.stringify({ PTX: code, Log: log });
	}
};
globalThis.importScripts = (...names) => names.filter((n) => n !== "wasm_exec.js").forEach((n) => require(path.join(here, n)));
globalThis.onmessage = undefined;
globalThis.postMessage = (m) => { if (m.reply) console.log(m.reply, m.over ? "over" : ""); };
require(path.join(here, "compiler.js"));
globalThis.onmessage({ data: { id: 1, request: "{}" } });
`

// runScript runs a script in Node with arguments, and returns what it prints.
func runScript(t *testing.T, script string, args ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, expected Node 20 or newer")
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"-e", script, "--"}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestCompilerFailsInTab: each way in which the compiler of a tab fails is one line with its
// remedy, and ends the worker, so that the next cell starts another.
func TestCompilerFailsInTab(t *testing.T) {
	folder, here := t.TempDir(), mustAbs(t, ".")
	if err := os.Mkdir(filepath.Join(folder, "clang"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"clang/bundle.js": fakeLLVM, "package.json": `{"type": "module"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const less = "make the source smaller, "
	for _, x := range []struct{ load, compile, want string }{
		{"well", "well", `{"PTX":"code","Log":""}`},
		{"well", "mistake", `{"PTX":"","Log":"x.cu(1): error: wrong\n"}`},
		{"offline", "", "the compiler could not be loaded (Failed to fetch): check the connection, and run the cell again"},
		{"site", "", "compiler.wasm.gz: 404 Not Found): have the site built again"},
		{"absent", "", "llvm.core.wasm.gz: 404 Not Found): have the site built again"},
		{"old", "", "use a newer browser"},
		{"memory", "", "the compiler needs more memory than the tab has: close other tabs, and run the cell again"},
		{"well", "memory", "the compiler needs more memory than the tab has: " + less + "its templates less deep, or close other tabs"},
		{"well", "exhausted", "the compiler needs more memory than the tab has: " + less + "its templates less deep, or close other tabs"},
		{"well", "stack", "the compiler's stack is full: nest templates and brackets less deep"},
		{"well", "unreachable", "the compiler crashed (unreachable): " + less + "or its templates less deep; nothing else is lost"},
		{"well", "bounds", "the compiler crashed (memory access out of bounds): " + less + "or its templates less deep; nothing else is lost"},
	} {
		got := runScript(t, compilerInNode, folder, here, x.load, x.compile)
		want := x.want
		if !strings.HasPrefix(want, "{") {
			want += `"} over`
		}
		if !strings.HasSuffix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s, %s: %s, expected %s", x.load, x.compile, got, want)
		}
	}
}

// compileInNode runs compile.js with a worker that answers nothing by itself, and a clock of
// its own.
const compileInNode = `
const log = [], workers = [];
let clock; // what the timer calls
globalThis.setTimeout = (f) => (clock = f);
globalThis.clearTimeout = () => { clock = null; };
globalThis.location = { href: "http://host/program/worker.js" };
globalThis.Worker = class {
	constructor() { workers.push(this); }
	postMessage({ id, request }) { log.push("asked " + request + " of " + workers.length); }
	terminate() { log.push("ended " + workers.length); }
};
require(process.argv[1]);
const compiler = new warpbook.Compiler((text) => log.push("says " + text));
const ask = (name) => compiler.compile(name, (reply) => log.push(name + ": " + (JSON.parse(reply).Error || "PTX")));
`

// TestCompilerOfTab: the worker ends with an interrupt, a hang, an error at its start or a
// crash; the next request starts another.
func TestCompilerOfTab(t *testing.T) {
	path := mustAbs(t, "compile.js")
	for script, want := range map[string]string{
		`const stop = ask("a"); stop(); stop(); ask("b")`:                                                         "asked a of 1, ended 1, says , asked b of 2",
		`const stop = ask("a"); ask("b"); stop()`:                                                                 "asked a of 1, asked b of 1, ended 1, says , b: another cell was interrupted while this one was compiled: run it again",
		`ask("a"); clock(); ask("b")`:                                                                             "asked a of 1, ended 1, says , a: the compiler did not end within 5 minutes and was ended: make the source smaller, or its templates less deep, asked b of 2",
		`ask("a"); workers[0].onerror({ preventDefault() { } }); ask("b")`:                                        "asked a of 1, ended 1, says , a: the compiler did not start (no reason was given): reload this page, asked b of 2",
		`ask("a"); workers[0].onmessage({ data: { id: 1, reply: '{"Error":"crashed"}', over: true } }); ask("b")`: "asked a of 1, says , a: crashed, ended 1, says , asked b of 2",
		`ask("a"); workers[0].onmessage({ data: { progress: "1 MB" } }); workers[0].onmessage({ data: { id: 1, reply: "{}" } }); log.push(String(clock))`: "asked a of 1, says 1 MB, says , a: PTX, null",
	} {
		if got := runScript(t, compileInNode+script+`;console.log(log.join(", "))`, path); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", script, got, want)
		}
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
