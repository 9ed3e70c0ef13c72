// Uses the site of notebooks in the browser in headless Chromium, as a reader would, with
// the network off after the first load, and keeps screenshots to be looked at. It runs
// notebooks whole and compares each output with that of a native run.
// Usage: lite.cjs SITE FOLDER EXECUTED.ipynb..., where EXECUTED are notebooks that
// warpbook run wrote; their names say which notebooks of the site run. With LITE_ALL=1 all
// puzzles of notebook 14 and the exercises of notebook 12 are solved in CUDA C++, in place
// of three puzzles that the seed chooses (WARPBOOK_SEED=N repeats it), and the compiler gets
// all kinds of bad input.
// Times are printed beside their targets, which are for 2 quiet cores; a busy machine may
// take ten times as long.
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;
const fs = require("fs");
const os = require("os");
const http = require("http");
const path = require("path");

const [site, folder, ...executed] = process.argv.slice(2);
const all = Boolean(process.env.LITE_ALL);
const seed = Number(process.env.WARPBOOK_SEED || Date.now() % 1e6);
const patience = 30 * 60 * 1000; // for a whole notebook
const aWhile = 5 * 60 * 1000; // for what takes seconds on a quiet machine
const targets = { "01-reduce": 90, "12-write-your-own": 60 }; // seconds
const mime = "application/vnd.warpbook.record+json";
const launch = (args = []) => chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", ...args], timeout: aWhile });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const violations = []; // of the content security policy
let failed = 0;

function check(what, good, detail = "") {
  console.log(`${good ? "ok  " : "FAIL"} ${what}${detail === "" ? "" : ": " + detail}`);
  if (!good) failed++;
}

// within says how a time compares with its target.
const within = (what, ms, target) => check(what, ms <= 10 * target, `${ms < 1000 ? ms.toFixed(1) + " ms" : (ms / 1000).toFixed(1) + " s"}, target ${target < 1000 ? target + " ms" : target / 1000 + " s"} on 2 quiet cores`);

// serve is a file server without any header of its own but a file's type. The pages below
// /blocked/ forbid web workers. JupyterLite's application is made visible to this script.
function serve() {
  const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".wasm": "application/wasm" };
  const sent = {}; // bytes by file
  const server = http.createServer((request, response) => {
    let name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const headers = {};
    if (name.startsWith("/blocked/")) {
      name = name.slice("/blocked".length);
      headers["Content-Security-Policy"] = "worker-src 'none'";
    }
    if (name.endsWith("/")) name += "index.html";
    fs.readFile(path.join(site, path.normalize(name)), (error, bytes) => {
      if (error) {
        response.writeHead(404).end();
        return;
      }
      if (name === "/jupyter-lite.json") {
        const all = JSON.parse(bytes);
        all["jupyter-config-data"].exposeAppInBrowser = true;
        bytes = JSON.stringify(all);
      }
      sent[name] = (sent[name] || 0) + bytes.length;
      response.writeHead(200, { "Content-Type": types[path.extname(name)] || "application/octet-stream", ...headers }).end(bytes);
    });
  });
  return new Promise((listening) => server.listen(0, "127.0.0.1", () => listening({
    url: `http://localhost:${server.address().port}`,
    forget: () => Object.keys(sent).forEach((name) => delete sent[name]),
    sent: () => Object.values(sent).reduce((a, b) => a + b, 0),
    largest: () => Object.entries(sent).sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name, n]) => `${name} ${(n / 1e6).toFixed(1)}`).join(", "),
    stop: () => new Promise((stopped) => { server.close(stopped); server.closeAllConnections(); }),
  })));
}

const shot = (page, name) => page.screenshot({ path: path.join(folder, name + ".png") });

async function newPage(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(aWhile);
  page.on("console", (message) => { if (/Content Security Policy/.test(message.text())) violations.push(message.text()); });
  await page.setViewportSize({ width: 1280, height: 1000 });
  return page;
}

// memory is how much of the machine's memory the largest tab has, in MB.
async function memory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return Math.max(...processInfo.filter((p) => p.type === "renderer").map((p) => {
    try {
      return Number(/VmRSS:\s*(\d+) kB/.exec(fs.readFileSync(`/proc/${p.id}/status`, "utf8"))[1]) / 1000;
    } catch {
      return 0; // it has ended
    }
  }));
}

// The page with one cell. Its state line says what a cell took.
async function cellPage(context, url) {
  const page = await newPage(context);
  let first = Infinity, ready = Infinity;
  for (let tries = 0; tries < 3 && first > 5000; tries++) { // of a warm cache
    const start = Date.now();
    await page.goto(url + "/cell.html");
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("ready"));
    ready = Math.min(ready, Date.now() - start);
    await page.click("#run");
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("cell 1 took"));
    first = Math.min(first, Date.now() - start);
  }
  const shown = await page.innerText("#out");
  check("the page with one cell runs a cell", shown.includes("emulator of NVIDIA"), shown.slice(0, 100));
  console.log(`     ready after ${(ready / 1000).toFixed(1)} s`);
  within("first cell from a warm cache", first, 5000);
  await shot(page, "cell");
  await page.fill("#code", "1 + 1");
  let trivial = Infinity;
  for (let cell = 2; cell < 22; cell++) {
    await page.click("#run");
    const state = await page.waitForFunction((cell) => document.getElementById("state").textContent.match(`cell ${cell} took ([0-9.]+) ms`)?.[1], cell);
    trivial = Math.min(trivial, Number(await state.jsonValue()));
  }
  within("trivial cell, best of 20", trivial, 20);
  await page.close();
}

// cell runs code in the page with one cell and returns what it shows.
async function cell(page, code) {
  await page.fill("#code", code);
  await page.evaluate(() => { document.getElementById("state").textContent = ""; });
  await page.click("#run");
  await page.waitForFunction(() => /^cell \d+ took/.test(document.getElementById("state").textContent));
  return page.innerText("#out");
}

const answer = (statement) => `%%cuda\n__global__ void puzzle_map(float* out, const float* x) {\n    ${statement}\n}`;

// firstCompilation compiles a cell on line: it brings the compiler, which is kept.
async function firstCompilation(context, url) {
  const page = await readyCell(context, url);
  const start = Date.now();
  const shown = await cell(page, answer("out[threadIdx.x] = 0;"));
  check("the first cell of CUDA C++ brings the compiler", /puzzle_map/.test(shown) && !/error/i.test(shown), shown.slice(0, 300));
  within("first compilation", Date.now() - start, 15000);
  await page.waitForFunction(async (files) => { // kept while it was used
    const kept = await Promise.all(files.map((file) => caches.match(file)));
    return kept.every(Boolean);
  }, ["compiler.wasm.gz", "clang/bundle.js", "clang/llvm.core.wasm.gz"].map((file) => `program/${file}`));
  await page.close();
}

async function readyCell(context, url) {
  const page = await newPage(context);
  await page.goto(url + "/cell.html");
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("ready"));
  return page;
}

// solutions are the puzzles of notebook 14 with their solutions in CUDA C++, each with the
// device functions that it calls.
function solutions() {
  return ["solutions.cu", "triton.cu"].flatMap((name) => {
    const text = fs.readFileSync(path.join(__dirname, "../ops/puzzles", name), "utf8");
    const helpers = [...text.matchAll(/^__device__ \w+ (\w+)\([^]*?^}\n/gm)];
    return [...text.matchAll(/^extern "C" (__global__ void puzzle_(\w+)\([^]*?^}\n)/gm)].map(([, code, puzzle]) =>
      [puzzle, "%%cuda\n" + helpers.filter(([, helper]) => code.includes(helper + "(")).map(([text]) => text).join("") + code]);
  });
}

// responsive reports the longest time in which the page handled no event, in ms.
const watch = (page) => page.evaluate(() => {
  window.longest = 0;
  let last = performance.now();
  window.watching = setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
  }, 10);
});
const watched = (page) => page.evaluate(() => { clearInterval(window.watching); return window.longest; });

// compiled solves puzzles of notebook 14 in CUDA C++ without a network, makes a mistake, and
// interrupts a compilation.
async function compiled(browser, context, url) {
  const page = await readyCell(context, url);
  await cell(page, `import (\n"warpbook/gpu/device"\n"warpbook/ops/puzzles"\n)\ncourse := puzzles.Must(device.MustOpen("emu"), 1)`);
  await cell(page, answer("out[threadIdx.x] = 0;")); // starts the compiler
  const puzzles = solutions();
  check("the puzzles of notebook 14", puzzles.length === 26, `${puzzles.length}, seed ${seed}`);
  let shown, least = Infinity;
  for (const [i, [name, code]] of puzzles.entries()) {
    if (!all && ![0, 1, 2].some((k) => (seed + 9 * k) % 26 === i)) continue;
    const start = Date.now();
    await cell(page, code);
    least = Math.min(least, Date.now() - start);
    shown = await cell(page, `course.Check("${name}", puzzle_${name})`);
    check(`puzzle ${name} is solved in CUDA C++, offline`, shown.includes("PASS"), shown.replace(/\s+/g, " ").slice(0, 120));
  }
  await watch(page);
  const start = Date.now();
  shown = await cell(page, answer("out[threadIdx.x] = y;"));
  const gap = await watched(page);
  within("a small cell in a warm tab", Math.min(least, Date.now() - start), 2000);
  within("the page is responsive while it compiles: longest wait of an event", gap, 100);
  const has = await memory(browser);
  check("the tab has less than 2 GB while it has a compiler", has < 2000, `${has.toFixed(0)} MB; load ${os.loadavg()[0].toFixed(1)}`);
  check("a mistake has its line, a caret and the remedy", /:3:\d+/.test(shown) && /^ *\^/m.test(shown) && shown.includes('identifier "y" is undefined'), shown.slice(0, 600));
  check("the progress of the compiler leaves nothing behind", !shown.includes("compiling") && !shown.includes("loading"), shown.slice(0, 200));
  await cell(page, `%%cuda\n__global__ void puzzle_map(float* out, const float* x) {\n    out[threadIdx.x] = x[threadIdx.x] + 10;\n}`);
  await page.fill("#code", "%%cuda\ntemplate <int N> struct T { static constexpr long v = T<N - 1>::v + T<N - 2>::v; };\n" + Array.from({ length: 4000 }, (_, i) => `__device__ float f${i}(float x) { for (int k = 0; k < 9; k++) x = x * x + ${i}.5f; return x; }`).join("\n") + "\n__global__ void big(float* y) { *y = " + Array.from({ length: 4000 }, (_, i) => `f${i}(y[${i}])`).join(" + ") + "; }");
  await page.click("#run");
  await page.waitForFunction(() => document.getElementById("out").textContent.includes("compiling"));
  const from = Date.now();
  await page.click("#stop");
  await page.waitForFunction(() => /^cell \d+ took/.test(document.getElementById("state").textContent));
  shown = await page.innerText("#out");
  check("an interrupt ends a compilation", /interrupt|cancel/i.test(shown) && Date.now() - from < 5000, `${Date.now() - from} ms: ${shown.slice(-300)}`);
  shown = await cell(page, `course.Check("map", puzzle_map)`);
  check("and variables are kept", /PASS/.test(shown), shown.slice(0, 100));
  await bad(page);
  await page.close();
}

// bad gives the compiler what it cannot compile: each is an error of its cell, the next cell
// compiles, and variables are kept.
async function bad(page) {
  const kernel = "__global__ void f(float* x) { *x = 1; }";
  const cases = {
    "endless includes": ["#include __FILE__\n" + kernel, /include/],
    "brackets without end": [`__global__ void f(int* x) { *x = ${"(".repeat(200000)}1${")".repeat(200000)}; }`, /nest|bracket|stack|crash/],
  };
  if (all) Object.assign(cases, {
    "10 MB": [kernel + "\n//" + "x".repeat(1e7), /expected at most 1048576/],
    "endless templates": ["template <int N> struct T { static constexpr int v = T<N + 1>::v; };\n__global__ void f(int* x) { *x = T<0>::v; }", /templates without an end|nest templates/],
    "a template that doubles": ["template <int N, int M> struct T { static constexpr int v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\ntemplate <int M> struct T<0, M> { static constexpr int v = M; };\n__global__ void f(int* x) { *x = T<24, 0>::v; }", /memory|templates|interrupt/],
  });
  await cell(page, "kept := 7");
  for (const [what, [code, want]] of Object.entries(cases)) {
    const late = setTimeout(() => page.click("#stop").catch(() => {}), 60000); // a reader's patience
    const start = Date.now();
    const shown = await cell(page, "%%cuda\n" + code);
    clearTimeout(late);
    check(`bad input: ${what}`, want.test(shown), `${((Date.now() - start) / 1000).toFixed(1)} s: ${shown.trim().split("\n")[0].slice(0, 300)}`);
  }
  check("the next cell compiles", /f\(float/.test(await cell(page, "%%cuda\n" + kernel)));
  check("and variables are kept", (await cell(page, "kept")).includes("7"));
}

// unreached is the first cell of CUDA C++ without a network: the compiler is not there yet.
async function unreached(context, url) {
  const page = await readyCell(context, url);
  await cell(page, "kept := 7");
  await context.setOffline(true);
  const shown = await cell(page, answer("out[threadIdx.x] = 0;"));
  check("without a network the first compilation says so in one line", /could not be loaded .*: check the connection/.test(shown), shown.trim().slice(0, 300));
  check("and variables are kept", (await cell(page, "kept")).includes("7"));
  await context.setOffline(false);
  await page.close();
}

// first opens a notebook from the first page and runs a cell, while the site is being kept.
async function first(page, server) {
  const start = Date.now();
  server.forget();
  await page.goto(server.url + "/index.html");
  await page.click("a[href$='14-puzzles.ipynb'] >> nth=0");
  await page.waitForSelector(".jp-Notebook .jp-Cell");
  await page.waitForFunction(() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === "idle");
  const shown = await run(page, "1 + 1");
  const bytes = server.sent();
  console.log(`     the first cell ran after ${((Date.now() - start) / 1000).toFixed(1)} s, load ${os.loadavg()[0].toFixed(1)}; most of it: ${server.largest()} MB`);
  check("at most 32 MB come before the first cell", shown.includes('"2"') && bytes <= 32e6, `${(bytes / 1e6).toFixed(1)} MB`);
}

// linked opens a link to a cell, which runs on a click only.
async function linked(context, url) {
  const page = await newPage(context);
  await page.goto(url + "/cell.html#code=" + encodeURIComponent('import "fmt"\nfmt.Println("from a link: 你好", 6*7)'));
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("ready"));
  await pause(500);
  check("a link shows its cell and does not run it", (await page.inputValue("#code")).includes("from a link: 你好") && await page.innerText("#out") === "");
  await page.focus("#code");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^cell 1 took/.test(document.getElementById("state").textContent));
  check("it runs by the keyboard", (await page.innerText("#out")).includes("from a link: 你好 42"));
  await page.goto(url + "/cell.html#code=%E0%A4%A");
  await page.waitForFunction(() => document.getElementById("out").textContent.startsWith("The link is damaged"));
  check("a damaged link is one line", !(await page.innerText("#out")).trim().includes("\n"), await page.innerText("#out"));
  await page.close();
}

// accessible looks at the pages in two widths, each with a colour scheme.
async function accessible(context, url) {
  for (const [width, colorScheme] of [[390, "light"], [1280, "dark"]]) {
    for (const name of ["index", "cell", "licences/index"]) {
      const page = await newPage(context);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${url}/${name}.html`);
      if (name === "cell") {
        await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("ready"));
        await page.click("#run");
        await page.waitForFunction(() => /^cell 1 took/.test(document.getElementById("state").textContent));
      }
      await page.evaluate(axe); // not a script element: the policy allows none
      const found = (await page.evaluate(() => window.axe.run())).violations;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${name}.html, ${colorScheme}, ${width} px: no finding of axe, nothing beyond the edge`, found.length === 0 && wide <= width,
        [`${wide} px`, ...found.map((v) => `${v.id}: ${v.nodes[0].html}`)].join("; "));
      await shot(page, `${name.replace("/", "-")}-${width}-${colorScheme}`);
      await page.close();
    }
  }
}

// phone opens a notebook on a narrow screen.
async function phone(context, url) {
  const page = await newPage(context);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${url}/lab/index.html?path=01-reduce.ipynb`);
  const shown = await page.waitForFunction(() => { // beside it are notebooks that were open before
    const panel = window.jupyterapp?.shell.currentWidget;
    const p = panel?.context?.path === "01-reduce.ipynb" ? panel.node.querySelector(".jp-Cell p") : null;
    return p?.checkVisibility() && { width: p.getBoundingClientRect().width, size: parseFloat(getComputedStyle(p).fontSize) };
  });
  const { width, size } = await shown.jsonValue();
  const folded = await page.waitForFunction(() => !document.querySelector(".jp-FileBrowser")?.checkVisibility(), null, { timeout: 30000 }).then(() => true, () => false);
  check("on a phone the file browser is folded and the text has the width", folded && width >= 250 && size >= 13, `${width.toFixed(0)} of 390 px, ${size} px letters`);
  await shot(page, "phone");
  await page.close();
}

// policy: a page and a worker reach no other site.
async function policy(context, url) {
  const page = await readyCell(context, url);
  for (const where of ["cell.html", "lab/index.html"]) {
    await page.goto(`${url}/${where}`);
    const reached = await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "reached", (e) => e.message));
    const inline = await page.evaluate(() => new Promise((done) => {
      const script = document.createElement("script");
      script.textContent = "window.injected = true";
      document.body.append(script);
      setTimeout(() => done(Boolean(window.injected)), 50);
    }));
    check(`${where}: the policy refuses other sites and inline scripts`, reached !== "reached" && !inline && violations.length > 0, violations.splice(0).map((v) => v.slice(0, 60)).join("; "));
  }
  await page.close();
}

async function open(context, url, name) {
  const page = await newPage(context);
  await page.goto(`${url}/lab/index.html?path=${name}.ipynb`);
  // A notebook that was open before is there first, until this one is shown.
  await page.waitForFunction((file) => {
    const panel = window.jupyterapp?.shell.currentWidget;
    return panel?.context?.path === file && panel.sessionContext.session?.kernel?.status === "idle";
  }, `${name}.ipynb`);
  return page;
}

const command = (page, id, args = {}) => page.evaluate(([id, args]) => window.jupyterapp.commands.execute(id, args), [id, args]);

// cells is what the notebook's model holds.
const cells = (page) => page.evaluate(() => [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code")
  .map((c) => ({ id: c.id, count: c.executionCount, source: c.sharedModel.getSource(), outputs: c.outputs.toJSON() })));

const idle = (page, timeout) => page.waitForFunction(() => {
  const panel = window.jupyterapp.shell.currentWidget;
  return panel.sessionContext.session?.kernel?.status === "idle" && [...panel.model.cells].every((c) => c.type !== "code" || c.executionState !== "running");
}, null, { timeout, polling: 50 });

// runAll runs a notebook from its menu and waits for every cell, or for the first that
// fails where none may.
async function runAll(page) {
  const start = Date.now();
  await page.click("text=Run >> visible=true");
  await page.click(".lm-Menu-itemLabel:text-is('Run All Cells')");
  await page.waitForFunction(() => {
    const code = [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code" && c.sharedModel.getSource().trim());
    const fails = (c) => !c.getMetadata("tags")?.includes("raises-exception") && c.outputs.toJSON().some((o) => o.output_type === "error");
    return code.every((c) => c.executionCount > 0 && c.executionState !== "running") || code.some(fails);
  }, null, { timeout: patience, polling: 100 });
  await idle(page, patience);
  return Date.now() - start;
}

const text = (value) => (Array.isArray(value) ? value.join("") : value ?? "");

// sorted is a record's text, with its keys in order and without what says where and when
// it was made.
const sorted = (record) => JSON.stringify(record, (key, value) => {
  if (["commit", "clean", "sources_sha256", "date", "host"].includes(key)) return undefined;
  return value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
});

// plain is an output without what differs between two runs: times, the date, the commit
// and the host. Of tables and plots of times only the names remain.
function plain(output) {
  const clean = (s) => s.replace(/((commit|sources sha256) [^,;]*, )?go1[^;\n]*; date: \S+/g, "(host)");
  if (output.output_type === "error") return { error: output.ename, value: clean(output.evalue) };
  if (output.output_type === "stream") return { stream: output.name, text: clean(text(output.text)) };
  const record = output.data[mime];
  const written = text(output.data["text/plain"]);
  const figures = record?.kind === "figures"; // a wide table of it continues below, in one run or the other
  const times = figures || /\b(emulator )?time\b.*\((us|ms|s)\)|^\s*(timing|checking|counting) /m.test(written);
  const all = { types: Object.keys(output.data).sort().join(" ") };
  if (record) {
    all.record = sorted(times ? { ...record, rows: record.rows.map((r) => [r.name, r.verdict]) } : record);
  }
  if (figures) return all;
  if (times) all.names = [...written.matchAll(/^([a-z]\w+_\w+)\s/gm)].map((m) => m[1]).join(" ");
  else {
    all.text = clean(written);
    all.markdown = text(output.data["text/markdown"]);
    all.plot = text(output.data["image/svg+xml"]);
  }
  return all;
}

// joined joins what a cell prints to one stream: two runs cut it at other places. Of a
// progress display only its end counts.
function joined(outputs) {
  const list = [];
  for (const o of outputs) {
    const before = list.at(-1);
    if (o.output_type === "stream" && before?.output_type === "stream" && before.name === o.name) before.text = text(before.text) + text(o.text);
    else list.push({ ...o });
  }
  return list;
}

// numbers counts those of a record.
const numbers = (record) => (JSON.stringify(record).match(/:-?\d/g) || []).length;

// compare compares a notebook's outputs with those of a native run, output by output.
function compare(name, here, native) {
  const there = native.cells.filter((c) => c.cell_type === "code");
  check(`${name}: the same cells`, here.length === there.length, `${here.length}`);
  const different = [];
  let outputs = 0, records = 0, values = 0, verdicts = 0;
  there.forEach((cell, i) => {
    const a = joined(here[i].outputs), b = joined(cell.outputs);
    if (text(cell.source).trim() !== here[i].source.trim()) different.push(`${cell.id}: the source`);
    if (a.length !== b.length) different.push(`${cell.id}: ${a.length} outputs, the native run has ${b.length}`);
    b.forEach((o, k) => {
      outputs++;
      const record = o.data?.[mime];
      if (record) {
        records++;
        if (record.kind !== "figures") values += numbers(record.rows);
        verdicts += record.rows.filter((r) => r.verdict).length;
      }
      if (!a[k]) return;
      const x = plain(a[k]), y = plain(o);
      for (const key of Object.keys({ ...x, ...y })) {
        if (x[key] === y[key]) continue;
        const at = [...String(x[key])].findIndex((c, n) => c !== String(y[key])[n]);
        different.push(`${cell.id}, output ${k + 1}, ${key}: ${JSON.stringify(String(x[key]).slice(Math.max(0, at - 60), at + 60))}, native ${JSON.stringify(String(y[key]).slice(Math.max(0, at - 60), at + 60))}`);
      }
    });
  });
  different.slice(0, 12).forEach((d) => console.log("     " + d));
  check(`${name}: outputs equal those of the native run, but for times`, different.length === 0,
    `${outputs} outputs, ${records} records with ${verdicts} verdicts and ${values} numbers, ${different.length} differences`);
}

async function notebook(browser, context, url, file) {
  const name = path.basename(file, ".ipynb");
  const page = await open(context, url, name);
  const took = await runAll(page);
  const here = await cells(page);
  const text = JSON.stringify(here);
  check(`${name}: every cell ran`, here.every((c) => c.count > 0 || !c.source.trim()), `${here.length} cells`);
  within(`${name} whole`, took, 1000 * (targets[name] || 90));
  console.log(`     ${name}: the tab has ${(await memory(browser)).toFixed(0)} MB of memory`);
  compare(name, here, JSON.parse(fs.readFileSync(file, "utf8")));
  const index = await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    return notebook.widgets.findIndex((w) => w.model.outputs?.toJSON().some((o) => o.data?.["image/png"] || o.data?.["image/svg+xml"]));
  });
  await page.evaluate((index) => window.jupyterapp.shell.currentWidget.content.scrollToItem(Math.max(0, index), "center"), index);
  await page.waitForFunction(() => [...document.querySelectorAll(".jp-OutputArea img, .jp-RenderedSVG svg")].some((x) => x.clientWidth > 100 && x.clientHeight > 50));
  await shot(page, name);
  return page;
}

// type makes a cell at the end of the notebook that has the keys.
async function type(page, code) {
  await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.length - 1;
  });
  await command(page, "notebook:insert-cell-below");
  await command(page, "notebook:change-cell-to-code");
  await edit(page, code);
}

// edit replaces the code of the active cell by the keyboard.
async function edit(page, code) {
  await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.scrollToItem(notebook.activeCellIndex, "center");
  });
  await command(page, "notebook:enter-edit-mode");
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.content.activeCell.editor?.hasFocus());
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(code);
}

// active is the outputs of the active cell, when it has run.
async function active(page) {
  await page.waitForFunction(() => {
    const cell = window.jupyterapp.shell.currentWidget.content.activeCell.model;
    return cell.executionCount > 0 && cell.executionState !== "running";
  }, null, { timeout: aWhile, polling: 50 });
  await idle(page, aWhile);
  return page.evaluate(() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.activeCell.model.outputs.toJSON()));
}

async function run(page, code) {
  await type(page, code);
  await page.keyboard.press("Control+Enter");
  return active(page);
}

// exercises compiles the cells of notebook 12 in the tab: a comment makes them differ from
// those whose PTX is committed.
async function exercises(page) {
  const changed = await page.evaluate(() => [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => {
    const source = c.sharedModel.getSource();
    if (!source.startsWith("%%cuda")) return false;
    c.sharedModel.setSource(source + "\n// mine");
    return true;
  }).length);
  await runAll(page);
  const here = await cells(page);
  const wrong = here.filter((c) => c.id !== "three-sanitize" && // which has a race
    c.outputs.some((o) => o.output_type === "error"));
  const inTab = here.filter((c) => JSON.stringify(c.outputs).includes("clang 22 in the browser"));
  check("the exercises of notebook 12 are solved in CUDA C++ in the tab", wrong.length === 0 && inTab.length >= changed, `${changed} cells compiled, ${wrong.map((c) => c.id + ": " + JSON.stringify(c.outputs).slice(0, 300)).join("; ")}`);
}

async function edited(page) {
  const index = await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    return (notebook.activeCellIndex = notebook.widgets.findIndex((w) => w.model.id === "one-launch"));
  });
  const before = (await cells(page)).find((c) => c.id === "one-launch");
  await edit(page, before.source.replace("ones[i] = 1", "ones[i] = 2"));
  await page.evaluate((count) => { window.count = count; }, before.count);
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction((index) => window.jupyterapp.shell.currentWidget.content.widgets[index].model.executionCount > window.count, index);
  const shown = await active(page);
  check("an edited cell runs again", before.outputs.length > 0 && shown.includes("the sum of 512 ones is 1024"), shown.slice(0, 200));
}

async function mistakes(page) {
  const compile = await run(page, 'fmt.Printn("one")');
  check("a mistake is named", compile.includes('"output_type":"error"') && compile.includes("Println"), compile.slice(0, 200));
  check("a compile error says that it is one, in colour", compile.includes("[1;31mcompile error") && compile.includes("[32mcell "), compile.slice(0, 300));
  const panic = await run(page, "var none []int\nnone[3] = 1");
  check("a panic names its line", panic.includes("line 2") && panic.includes("index out of range"), panic.slice(0, 200));
  await shot(page, "mistake");
  const refused = await run(page, "%%bash\nls");
  check("a magic that a browser lacks is refused by name", refused.includes("%%bash") && refused.includes("browser"), refused.slice(0, 200));
  const absent = await run(page, 'import "net/http"\nhttp.Get("x")');
  check("a package that is left out is named", absent.includes("net/http") && absent.includes('"output_type":"error"'), absent.slice(0, 200));
}

// controls moves a slider of display.Interact by the keyboard.
async function controls(page) {
  await run(page, 'import ("fmt"; "warpbook/kernel/display")');
  const cell = "display.Interact(func(stride int, padded bool) string {\nreturn fmt.Sprintf(\"<%d %v>\", stride, padded)\n}, display.Slider(\"stride\", 1, 64), display.Checkbox(\"padded\"))";
  await run(page, cell);
  const place = page.locator(".jp-Notebook .jp-Cell.jp-mod-active");
  const shows = (what, want) => page.waitForFunction((want) =>
    [...document.querySelectorAll(".jp-Cell.jp-mod-active .jp-OutputArea-child")].at(-1)?.innerText.includes(want), want, { polling: 5 })
    .then(() => check(what, true), async () => check(what, false, await active(page)));
  await place.locator(".widget-slider .noUi-handle").waitFor();
  await shows("controls show the first result", "<1 false>");
  await place.locator(".widget-slider .noUi-handle").focus();
  const start = Date.now();
  await page.keyboard.press("ArrowRight");
  await shows("a slider calls the function", "<2 false>");
  console.log(`     ${Date.now() - start} ms from the key to the output`);
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowRight");
  await place.locator(".widget-checkbox input").click();
  await shows("controls that move fast end at the last values", "<42 true>");
  await shot(page, "controls");
}

async function stopped(page) {
  await run(page, "kept := 42");
  let least = Infinity, all = true;
  for (let tries = 0; tries < 3 && least > 1000; tries++) {
    await type(page, 'import "fmt"\nfmt.Println("begun")\nfor {\n}');
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.activeCell.model.outputs.toJSON()).includes("begun"));
    const start = Date.now();
    await command(page, "notebook:interrupt-kernel");
    const shown = await active(page);
    least = Math.min(least, Date.now() - start);
    // A browser that waits 5 s for processor time starts the program again and says so.
    all = all && (shown.includes("interrupted") || shown.includes("variables are lost"));
    if (shown.includes("variables are lost")) await run(page, "kept := 42");
  }
  check("an endless loop stops", all, `${least} ms`);
  check("variables are kept", (await run(page, "kept")).includes("42"));
}

async function assistance(page) {
  await run(page, 'import "fmt"');
  await type(page, "fmt.Pri");
  const completer = page.locator(".jp-Completer:not(.lm-mod-hidden) .jp-Completer-item");
  let items = [];
  for (const deadline = Date.now() + aWhile; !items.some((x) => x.includes("Println")) && Date.now() < deadline; ) {
    await page.keyboard.press("Tab");
    await completer.first().waitFor({ timeout: 10000 }).catch(() => {});
    items = await completer.allInnerTexts();
  }
  check("Tab completes a name", items.some((x) => x.includes("Println")), items.join(" ").replace(/\s+/g, " ").slice(0, 120));
  await shot(page, "tab");
  await page.keyboard.press("Escape");
  await edit(page, "fmt.Println(");
  const tooltip = page.locator(".jp-Tooltip");
  let shown = "";
  for (const deadline = Date.now() + aWhile; !shown.includes("func Println") && Date.now() < deadline; ) {
    await page.keyboard.press("Shift+Tab");
    await tooltip.waitFor({ timeout: 10000 }).catch(() => {});
    shown = (await tooltip.count()) ? await tooltip.innerText() : "";
  }
  check("Shift-Tab inspects a name", shown.includes("func Println(a ...any)"), shown.split("\n")[0]);
  await shot(page, "shift-tab");
  await page.keyboard.press("Escape");
  const statuses = await page.evaluate(async () => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const list = [];
    for (const code of ["x := 1", "for {\nif x {", "x := )"]) {
      const { content } = await kernel.requestIsComplete({ code });
      list.push(content.status + (content.indent ? ":" + content.indent.length : ""));
    }
    return list.join(" ");
  });
  check("is_complete", statuses === "complete incomplete:2 invalid", statuses);
}

async function stdin(page) {
  await type(page, 'var who string\nfmt.Scanln(&who)\nfmt.Println("hello " + who)');
  await page.keyboard.press("Control+Enter");
  const box = page.locator(".jp-Stdin-input");
  await box.waitFor();
  await box.fill("Ada");
  await page.keyboard.press("Enter");
  const shown = await active(page);
  check("a cell reads what the user types", shown.includes("hello Ada"), shown.slice(0, 200));
  const refused = await page.evaluate(async () => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({ code: "fmt.Scanln(&who)", allow_stdin: false, store_history: false });
    let all = "";
    future.onIOPub = ({ content }) => { all += JSON.stringify(content); };
    const { content } = await future.done;
    return all + JSON.stringify(content);
  });
  check("input is refused by name where the client does not allow it", refused.includes("does not allow input"), refused.slice(0, 300));
}

async function restart(page) {
  const restarted = command(page, "kernelmenu:restart");
  await page.click(".jp-Dialog .jp-mod-accept");
  await restarted;
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === "idle");
  check("variables are gone after a restart", (await run(page, "kept")).includes("undefined"));
  check("and cells run", (await run(page, "6 * 7")).includes("42"));
}

// sentence is what the page with one cell says in a browser that lacks something.
async function sentence(url, { args, before }, what, ...words) {
  const browser = await launch(args);
  try {
    const page = await newPage(await browser.newContext());
    if (before) await page.addInitScript(before);
    await page.goto(url);
    await page.waitForFunction(() => !/^(loading|)$/.test(document.getElementById("state").textContent));
    const shown = await page.innerText("#state");
    check(`one sentence with the remedy: ${what}`, words.every((w) => shown.includes(w)) && !shown.trim().includes("\n"), shown);
    await shot(page, "without-" + what.replaceAll(" ", "-"));
  } finally {
    await browser.close();
  }
}

(async () => {
  fs.mkdirSync(folder, { recursive: true });
  const bytes = fs.statSync(path.join(site, "program", "cells.wasm.gz")).size;
  check("the program has less than 20 MB compressed", bytes < 20e6, `${(bytes / 1e6).toFixed(1)} MB`);
  const server = await serve();
  await sentence(server.url + "/cell.html", { before: "delete globalThis.WebAssembly" }, "no WebAssembly", "WebAssembly", "use ");
  await sentence(server.url + "/cell.html", { args: ["--js-flags=--wasm-max-mem-pages=256"] }, "low memory", "memory", "close other tabs");
  await sentence(server.url + "/blocked/cell.html", {}, "a blocked worker", "worker", "allow");
  violations.length = 0; // of that page
  const browser = await launch();
  const context = await browser.newContext();
  try {
    const page = await newPage(context);
    await first(page, server);
    const start = Date.now();
    await page.goto(server.url + "/index.html");
    await page.waitForFunction(() => document.getElementById("kept").textContent === "The site works offline now.");
    console.log(`     the rest of the site was kept in ${((Date.now() - start) / 1000).toFixed(1)} s: ${(server.sent() / 1e6).toFixed(1)} MB in all`);
    await shot(page, "index");
    await accessible(context, server.url);
    await linked(context, server.url);
    await unreached(context, server.url);
    await firstCompilation(context, server.url);
    await page.goto(server.url + "/reports/h200/01-reduce.html"); // keeps it
    check("no page asks for what its policy refuses", violations.length === 0, violations.join("; "));
    await policy(context, server.url);
    await server.stop();
    await context.setOffline(true);
    await page.goto(server.url + "/reports/h200/01-reduce.html");
    await page.click("text=Run this notebook here");
    await page.waitForFunction(() => { // 14 was open, and is restored
      const shell = window.jupyterapp?.shell;
      return shell?.currentWidget?.context?.path === "01-reduce.ipynb" && [...shell.widgets("main")].filter((w) => w.context?.isReady).length > 1;
    });
    check("a report leads to its notebook, offline", true);
    await page.close();
    await cellPage(context, server.url);
    await phone(context, server.url);
    await compiled(browser, context, server.url);
    let last;
    for (const file of executed) {
      if (last) await last.close();
      last = await notebook(browser, context, server.url, file);
    }
    if (all) await exercises(last);
    await edited(last);
    await mistakes(last);
    await controls(last);
    await stopped(last);
    await assistance(last);
    await stdin(last);
    await restart(last);
  } catch (e) {
    check("no exception", false, e.stack);
    for (const [i, page] of context.pages().entries()) await shot(page, "exception-" + i).catch(() => {});
  }
  await browser.close();
  await server.stop().catch(() => {});
  console.log(`${failed} failed`);
  process.exit(failed ? 1 : 0);
})();
