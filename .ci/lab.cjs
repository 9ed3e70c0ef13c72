// Uses the installed kernel in a real JupyterLab in headless Chromium, as a
// user would, and keeps screenshots to be looked at.
// Usage: lab.cjs NOTEBOOK FOLDER, with jupyter in PATH.
const { chromium } = require("playwright-core");
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");

const [notebook, folder] = process.argv.slice(2);
const name = path.basename(notebook);
const patience = 10 * 60 * 1000; // for the whole notebook on two cores
const aWhile = 2 * 60 * 1000; // for what takes seconds at most, on a busy machine
const labs = [];
let failed = 0;

function check(what, good, detail = "") {
  console.log(`${good ? "ok  " : "FAIL"} ${what}${detail === "" ? "" : ": " + detail}`);
  if (!good) failed++;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// startLab starts a server whose trust database is in a folder of its own.
async function startLab(root, data) {
  for (const [file, text] of Object.entries({
    "apputils-extension/notification": '{"fetchNews": "false"}', // else a dialog covers the corner
    "completer-extension/manager": '{"providerTimeout": 60000}', // else completions that come after 1 s are dropped
  })) {
    const settings = `${data}/config/lab/user-settings/@jupyterlab/${file}.jupyterlab-settings`;
    fs.mkdirSync(path.dirname(settings), { recursive: true });
    fs.writeFileSync(settings, text);
  }
  const token = "ci" + Math.random().toString(36).slice(2);
  const env = { ...process.env, JUPYTER_CONFIG_DIR: data + "/config", JUPYTER_DATA_DIR: data, JUPYTER_RUNTIME_DIR: data + "/runtime" };
  const args = ["lab", "--no-browser", "--allow-root", "--port=0", "--ServerApp.ip=127.0.0.1", `--IdentityProvider.token=${token}`,
    `--ServerApp.root_dir=${root}`, "--LabApp.expose_app_in_browser=True"];
  const server = spawn("jupyter", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const url = await new Promise((found, lost) => {
    const read = (data) => {
      log += data;
      const at = log.match(/http:\/\/127\.0\.0\.1:(\d+)\/lab/);
      if (at) found(`http://127.0.0.1:${at[1]}`);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.on("exit", () => lost(new Error("jupyter lab ended: " + log)));
  });
  const ended = new Promise((done) => server.on("exit", done));
  const stop = () => (server.kill("SIGTERM"), ended); // SIGINT would ask back
  const lab = { url, token, stop };
  labs.push(lab);
  for (const deadline = Date.now() + aWhile; ; await pause(100)) { // it says where before it listens there
    if (await fetch(`${url}/api/status?token=${token}`).then((r) => r.ok, () => false)) break;
    if (Date.now() > deadline) throw new Error("jupyter lab does not answer: " + log);
  }
  return lab;
}

async function open(browser, lab) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  page.setDefaultTimeout(aWhile);
  await page.goto(`${lab.url}/lab/tree/${name}?token=${lab.token}&reset`);
  await page.waitForSelector(".jp-Notebook .jp-Cell");
  await page.waitForFunction(() => {
    const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.connectionStatus === "connected" && kernel.status === "idle";
  });
  return page;
}

const command = (page, id, args = {}) => page.evaluate(([id, args]) => window.jupyterapp.commands.execute(id, args), [id, args]);

// outputs is what the notebook's model holds.
const outputs = (page) => page.evaluate(() =>
  [...window.jupyterapp.shell.currentWidget.model.cells].map((c, index) => ({ c, index })).filter(({ c }) => c.type === "code")
    .map(({ c, index }) => ({ index, count: c.executionCount, state: c.executionState, outputs: c.outputs.toJSON() })));

const idle = (page, timeout = aWhile) => page.waitForFunction(() => {
  const panel = window.jupyterapp.shell.currentWidget;
  return panel.sessionContext.session.kernel.status === "idle" &&
    [...panel.model.cells].every((c) => c.type !== "code" || c.executionState !== "running");
}, null, { timeout, polling: 20 });

// ran waits until the last cells that hold code, so many, have a number, and the kernel is idle.
async function ran(page, many = 1, timeout = aWhile) {
  await page.waitForFunction((many) => [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code").slice(-many)
    .every((c) => c.executionCount > 0 || !c.sharedModel.getSource().trim()), many, { timeout, polling: 20 });
  await idle(page, timeout);
}

// run types a cell at the end of the notebook and runs it with Control-Enter.
async function run(page, code, wait = true) {
  await type(page, code);
  await page.keyboard.press("Control+Enter");
  if (!wait) return null;
  await ran(page);
  return last(page);
}

async function type(page, code) {
  await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.length - 1;
  });
  await command(page, "notebook:insert-cell-below");
  await command(page, "notebook:change-cell-to-code");
  await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.scrollToItem(notebook.activeCellIndex, "center");
  });
  await edit(page);
  await page.keyboard.type(code);
}

// edit waits until the active cell takes keys: before, they are commands.
async function edit(page) {
  await command(page, "notebook:enter-edit-mode");
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.content.activeCell.editor?.hasFocus());
}

const last = async (page) => JSON.stringify((await outputs(page)).pop().outputs);

// visible scrolls through the notebook and looks at each image and table.
async function visible(page) {
  const count = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets.length);
  const seen = { images: 0, tables: 0, blank: [], wide: [] };
  for (let i = 0; i < count; i++) {
    const cell = await page.evaluate(async (i) => {
      const notebook = window.jupyterapp.shell.currentWidget.content;
      await notebook.scrollToItem(i, "center");
      const node = notebook.widgets[i].node;
      let images, blank;
      for (const deadline = Date.now() + 30000; ; ) { // a busy machine shows outputs late
        await new Promise((done) => setTimeout(done, 80));
        images = [...node.querySelectorAll(".jp-OutputArea img, .jp-OutputArea .jp-RenderedSVG svg")];
        blank = images.filter((x) => x.clientWidth < 100 || x.clientHeight < 50 || (x.tagName === "IMG" && !x.naturalWidth)).length;
        const outputs = notebook.widgets[i].model.outputs?.length ?? 0;
        if (Date.now() > deadline || !blank && node.querySelectorAll(".jp-OutputArea-child").length >= outputs) break;
      }
      return {
        images: images.length,
        blank,
        tables: node.querySelectorAll(".jp-OutputArea table").length,
        wide: [...node.querySelectorAll(".jp-OutputArea-output:has(table)")].some((x) => x.scrollWidth > x.clientWidth + 1),
      };
    }, i);
    seen.images += cell.images;
    seen.tables += cell.tables;
    if (cell.blank) seen.blank.push(i);
    if (cell.wide) seen.wide.push(i);
  }
  return seen;
}

// shots keeps the first cell with an image and that with the longest table.
async function shots(page, prefix) {
  const cells = await outputs(page);
  const has = (mime) => (c) => c.outputs.some((o) => o.data && o.data[mime]);
  const html = (c) => Math.max(0, ...c.outputs.map((o) => (o.data?.["text/html"] || "").length));
  const shown = { plot: cells.find(has("image/png")), table: cells.reduce((a, b) => (html(b) > html(a) ? b : a)) };
  for (const [theme, suffix] of [["JupyterLab Dark", "dark"], ["JupyterLab Light", "light"]]) {
    await command(page, "apputils:change-theme", { theme });
    await pause(1500);
    for (const [what, cell] of Object.entries(shown)) {
      await page.evaluate(async (i) => {
        const notebook = window.jupyterapp.shell.currentWidget.content;
        await notebook.scrollToItem(i, "start");
      }, cell.index);
      await pause(1000);
      await page.screenshot({ path: path.join(folder, `${prefix}-${what}-${suffix}.png`) });
    }
  }
}

// ended waits until every cell of the notebook ran, or one failed.
async function ended(page) {
  await page.waitForFunction(() => {
    const code = [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code" && c.sharedModel.getSource().trim());
    return code.every((c) => c.executionCount > 0) || code.some((c) => c.outputs.toJSON().some((o) => o.output_type === "error"));
  }, null, { timeout: patience, polling: 100 });
  await idle(page, patience);
}

async function runAll(page) {
  const start = Date.now();
  await page.click("text=Run >> visible=true");
  await page.click(".lm-Menu-itemLabel:text-is('Run All Cells')");
  await ended(page);
  const cells = await outputs(page);
  const text = JSON.stringify(cells);
  check("every cell ran", cells.every((c) => c.count > 0 || c.outputs.length === 0), `${cells.length} cells, ${Math.round((Date.now() - start) / 1000)} s`);
  check("no cell failed", !text.includes('"output_type":"error"'), (text.match(/"evalue":"[^"]*"/g) || []).join());
  check("the word PASS", text.includes("PASS"));
  const seen = await visible(page);
  check("plots", seen.images > 0 && seen.blank.length === 0, `${seen.images} images, blank in cells [${seen.blank}]`);
  check("tables", seen.tables > 0, `${seen.tables}`);
  check("no table is scrolled sideways", seen.wide.length === 0, `cells [${seen.wide}]`);
  check("PASS on the screen", (await page.locator(".jp-OutputArea:has-text('PASS')").count()) > 0);
  return seen;
}

// What an interrupt takes is said beside its aim; the browser's own part grows with what
// the machine does, so the best of three tries may take 5 s.
async function stopAndKeep(page) {
  await run(page, "kept := 42");
  let least = Infinity, all = true;
  for (let tries = 0; tries < 3 && least > 1000; tries++) {
    await run(page, "for {}", false);
    await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "busy");
    await pause(500);
    const start = Date.now();
    await page.click("[data-command='notebook:interrupt-kernel'], jp-button[title*='Interrupt'], button[title*='Interrupt']");
    await ran(page);
    least = Math.min(least, Date.now() - start);
    all = all && (await last(page)).includes("interrupted");
  }
  check("an endless loop stops", least <= 5000 && all, `${least} ms, target 1000 ms on 2 quiet cores`);
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
  check("Tab", items.some((x) => x.includes("Println") && x.replace(/\s/g, " ").includes("func(a ...any)")), items.join(" ").replace(/\s+/g, " ").slice(0, 120));
  await page.screenshot({ path: path.join(folder, "tab.png") });
  await page.keyboard.press("Escape");
  await edit(page);
  await page.keyboard.type("ntln(");
  const tooltip = page.locator(".jp-Tooltip");
  let text = "";
  for (const deadline = Date.now() + aWhile; !text.includes("func Println") && Date.now() < deadline; ) {
    await page.keyboard.press("Shift+Tab");
    await tooltip.waitFor({ timeout: 10000 }).catch(() => {});
    text = (await tooltip.count()) ? await tooltip.innerText() : "";
  }
  check("Shift-Tab", text.includes("func Println(a ...any)") && text.includes("standard output"), text.split("\n")[0]);
  await page.screenshot({ path: path.join(folder, "shift-tab.png") });
  await page.keyboard.press("Escape");
}

// A cell that fails stops those that were sent before it failed. A busy page takes a while to
// send the second cell.
async function abort(page) {
  await type(page, 'import "time"\ntime.Sleep(2 * time.Second)\npanic("first")');
  await type(page, "after := 1");
  await page.evaluate(() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.length - 2;
  });
  await command(page, "notebook:run-all-below").catch(() => {});
  await page.waitForFunction(() => {
    const code = [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code");
    return code.at(-2).outputs.toJSON().some((o) => o.output_type === "error") && code.at(-1).executionState !== "running";
  });
  await idle(page);
  const text = await run(page, "after");
  check("cells behind a failure do not run", text.includes("undefined"), text.slice(0, 200));
}

async function stdin(page) {
  await run(page, 'var who string\nfmt.Scanln(&who)\nfmt.Println("hello " + who)', false);
  const box = page.locator(".jp-Stdin-input");
  await box.waitFor();
  await box.fill("Ada");
  await page.keyboard.press("Enter");
  await ran(page);
  check("a cell reads what the user types", (await last(page)).includes("hello Ada"));
}

// subshells is how many the kernel of a notebook lists.
const subshells = (page, id) => page.evaluate(async (id) => {
  const kernel = [...window.jupyterapp.shell.widgets("main")].find((w) => w.id === id).sessionContext.session.kernel;
  return (await kernel.requestListSubshell({}).done).content.subshell_id.length;
}, id);

// A console on a subshell works while a cell of the notebook runs.
async function subshell(page) {
  await run(page, 'import "time"\nn := 0');
  await run(page, "for { n++ }", false);
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "busy");
  const notebook = await page.evaluate(() => window.jupyterapp.shell.currentWidget.id);
  const prompt = page.locator(".jp-CodeConsole-input .cm-content");
  // On a busy machine JupyterLab opens the console before it knows that the kernel has
  // subshells, and takes none: such a console is closed, and opened again.
  let listed = 0;
  for (let tries = 0; tries < 10 && !listed; tries++) {
    await page.evaluate((id) => {
      const { shell, commands } = window.jupyterapp;
      if (shell.currentWidget.id !== id) shell.currentWidget.dispose();
      shell.activateById(id);
      void commands.execute("notebook:create-subshell-console");
    }, notebook);
    await prompt.waitFor();
    for (const deadline = Date.now() + 20000; !listed && Date.now() < deadline; await pause(200)) listed = await subshells(page, notebook);
  }
  // The console takes keys before it has its subshell: what is typed too early is typed again.
  let completed = false;
  for (const deadline = Date.now() + aWhile; !completed && Date.now() < deadline; ) {
    await page.keyboard.press("Escape");
    await prompt.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("time.Dur");
    await page.keyboard.press("Tab");
    completed = await page.waitForFunction(() => document.querySelector(".jp-CodeConsole-input").innerText.includes("time.Duration") ||
      document.querySelector(".jp-Completer:not(.lm-mod-hidden)")?.innerText.includes("Duration"), null, { timeout: 10000 }).then(() => true, () => false);
  }
  check("a subshell completes while a cell runs", completed);
  const output = page.locator(".jp-CodeConsole-content .jp-OutputArea-output");
  let text = "";
  for (const deadline = Date.now() + aWhile; !text.includes("true") && Date.now() < deadline; ) {
    await page.keyboard.press("Escape");
    await prompt.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type('n > 0 && time.Second > 0');
    await page.keyboard.press("Shift+Enter");
    await output.first().waitFor({ timeout: 20000 }).catch(() => {});
    text = (await output.allInnerTexts()).join("|");
  }
  check("a subshell runs a cell while another runs", text.includes("true"), text);
  await page.screenshot({ path: path.join(folder, "subshell.png") });
  await page.evaluate((id) => window.jupyterapp.shell.activateById(id), notebook);
  await pause(300);
  const still = await page.evaluate(() => [...window.jupyterapp.shell.currentWidget.model.cells].pop().executionState);
  check("the cell still runs", still === "running", still);
  const closed = await page.evaluate(() => new Promise((done) => { // JupyterLab sends comms to a subshell of their own
    const comm = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.createComm("nobody");
    comm.onClose = () => done(true);
    comm.subshellStarted.then(() => comm.open());
    setTimeout(() => done(false), 60000);
  }));
  check("a comm is answered while it runs", closed);
  await command(page, "notebook:interrupt-kernel");
  await ran(page);
  check("the interrupt ends it", (await last(page)).includes("interrupted"));
  const ids = await subshells(page, notebook);
  check("the kernel lists the subshells", ids >= 1, ids);
}

// face looks at what the kernel shows, in light and dark: code with the editor's colours,
// errors with those of a terminal, progress that vanishes.
async function face(page) {
  await run(page, 'import ("warpbook/kernel/display"; "warpbook/ops")');
  await run(page, 'ops.Reduce.Code("reduce_v2_sequential")');
  const from = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.activeCellIndex);
  await run(page, 'ops.Reduce.Diff("reduce_v1_strided_index", "reduce_v2_sequential")');
  await run(page, 'p := display.NewProgress(3, "steps")\np.Add(3)\np.Done()');
  const left = await page.evaluate(() => (({ innerText, clientHeight }) => ({ innerText, clientHeight }))(window.jupyterapp.shell.currentWidget.content.activeCell.outputArea.node));
  check("progress vanishes when it is done", !left.innerText.trim() && left.clientHeight <= 20, JSON.stringify(left));
  const wrong = await run(page, "undefinedName + 1");
  check("a compile error says that it is one", wrong.includes("[1;31mcompile error"), wrong.slice(0, 200));
  const html = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.activeCell.outputArea.node.querySelector("pre").innerHTML);
  check("an error has the colours of the theme", /class="[^"]*ansi-red/.test(html), html.slice(0, 200));
  await run(page, "func third(x []int) int {\nreturn x[3]\n}\nthird(nil)");
  for (const [theme, suffix] of [["JupyterLab Dark", "dark"], ["JupyterLab Light", "light"]]) {
    await command(page, "apputils:change-theme", { theme });
    for (const [what, at] of [["code", from], ["errors", from + 4]]) {
      await page.evaluate((i) => window.jupyterapp.shell.currentWidget.content.scrollToItem(i, "start"), at);
      await pause(1500);
      if (what === "code") {
        const { colours, wraps } = await page.evaluate((i) => {
          const pre = window.jupyterapp.shell.currentWidget.content.widgets[i].outputArea.node.querySelector("pre");
          return { colours: [pre, ...pre.querySelectorAll("span")].map((x) => getComputedStyle(x).color), wraps: getComputedStyle(pre).whiteSpace !== "pre" };
        }, at);
        check(`CUDA has colours and whole lines (${suffix})`, new Set(colours).size >= 3 && !wraps, [...new Set(colours)].join(" "));
      }
      await page.screenshot({ path: path.join(folder, `face-${what}-${suffix}.png`) });
    }
  }
}

// controls moves the controls of display.Interact by the keyboard, as a reader does, and
// reads the result, which is an output of its own.
async function controls(page) {
  await run(page, 'import ("fmt"; "warpbook/kernel/display")');
  await run(page, `display.Interact(func(stride int, padded bool, way string) string {
if stride == 5 {
panic("five")
}
return fmt.Sprintf("<%d %v %s>", stride, padded, way)
}, display.Slider("stride", 1, 64), display.Checkbox("padded"), display.Choice("way", "down", "up"), display.Button("again"))`);
  const cell = page.locator(".jp-Notebook .jp-Cell.jp-mod-active");
  const result = () => page.evaluate(() => window.jupyterapp.shell.currentWidget.content.activeCell.model.outputs.toJSON().at(-1).data["text/plain"]);
  const shows = (what, want) => page.waitForFunction((want) =>
    [...document.querySelectorAll(".jp-Cell.jp-mod-active .jp-OutputArea-child")].at(-1)?.innerText.includes(want), want, { polling: 5 })
    .then(() => check(what, true), async () => check(what, false, await result()));
  await cell.locator(".widget-slider .noUi-handle").waitFor();
  await shows("controls show the first result", "<1 false down>");
  const slider = cell.locator(".widget-slider .noUi-handle");
  await slider.focus();
  const start = Date.now();
  await page.keyboard.press("ArrowRight");
  await shows("a slider calls the function", "<2 false down>");
  console.log(`     ${Date.now() - start} ms from the key to the output`);
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowRight");
  await cell.locator(".widget-checkbox input").click();
  await cell.locator(".widget-dropdown select").selectOption("up");
  await shows("controls that move fast end at the last values", "<42 true up>");
  await slider.focus();
  for (let i = 0; i < 37; i++) await page.keyboard.press("ArrowLeft");
  await shows("a panic is shown in place of the result", "panic: five");
  await page.keyboard.press("ArrowLeft");
  await shows("and the function runs again", "<4 true up>");
  await page.screenshot({ path: path.join(folder, "controls.png") });
  await command(page, "docmanager:save");
  const saved = JSON.stringify(await outputs(page));
  check("the saved notebook has the last result", saved.includes("<4 true up>") && saved.includes('"warpbook_controls":"stride = 4, padded = true, way = up"'), saved.includes("<4 true up>") ? "" : saved.slice(-300));
  await page.keyboard.press("Escape");
  await command(page, "notebook:run-cell");
  await ran(page);
  await shows("the cell runs again with controls of its own", "<1 false down>");
  check("one set of controls is left", (await cell.locator(".widget-slider").count()) === 1);
}

// The panel of jupyter-resource-usage shows what the kernel and its host use.
async function usagePanel(page) {
  const errors = [];
  const note = (e) => errors.push(e.message);
  page.on("pageerror", note);
  await page.click('[data-id="kernelusage-panel-id"]');
  const panel = page.locator(".jp-KernelUsage-view");
  await page.waitForFunction(() => document.querySelector(".jp-KernelUsage-view")?.innerText.includes("Available:"), null, { timeout: aWhile }).catch(() => {});
  const text = (await panel.innerText()).replace(/\s+/g, " ");
  check("the usage panel", /Process ID: \d+ .*Memory: [\d.]+ .*Active: [\d.]+ .*Total: [\d.]+/.test(text) && !errors.length, (errors.join() || text).slice(0, 200));
  await page.screenshot({ path: path.join(folder, "usage.png") });
  await page.click('[data-id="kernelusage-panel-id"]');
  page.off("pageerror", note);
}

// panel is what the debugger's panel shows, and the lines that the editors mark.
const panel = (page) => page.evaluate(() => ({
  stack: [...document.querySelectorAll(".jp-DebuggerCallstack-body li")].map((x) => x.innerText.replace(/\s+/g, " ").trim()),
  names: [...document.querySelectorAll(".jp-DebuggerVariables-body .jp-TreeItem")].map((x) => x.innerText.replace(/\s+/g, " ").trim()),
  lines: [...document.querySelectorAll(".jp-DebuggerEditor-highlight")].map((x) => x.innerText.trim()),
}));

async function stoppedAt(page, what, good) {
  let seen;
  for (const deadline = Date.now() + aWhile; Date.now() < deadline; await pause(100)) {
    seen = await panel(page);
    if (good(seen)) break;
  }
  check(what, good(seen), JSON.stringify(seen).slice(0, 300));
}

async function startDebugger(page) {
  const pressed = ".jp-DebuggerBugButton[aria-pressed=true], .jp-DebuggerBugButton [aria-pressed=true]";
  const started = () => page.waitForSelector(pressed, { state: "attached", timeout: 10_000 }).then(() => true, () => false);
  for (let tries = 0; tries < 6; tries++) { // a click just after the page has opened does nothing
    if (!await page.$(pressed)) await page.click(".jp-DebuggerBugButton"); // another click would stop it
    if (await started()) break;
  }
  check("the bug button starts the debugger", await started());
  await command(page, "debugger:show-panel");
}

// breakpoint sets one in the active cell by a click. One second after the last change of a
// cell JupyterLab sends the breakpoints of its editor again: a click at that moment is lost.
async function breakpoint(page, line) {
  await page.evaluate(() => new Promise((sent) => setTimeout(sent, 1500)));
  const gutter = page.locator(".jp-Notebook .jp-mod-active .cm-breakpoint-gutter .cm-gutterElement");
  await gutter.nth(line).click(); // the first is the spacer
  await page.waitForSelector(".jp-DebuggerBreakpoint", { timeout: aWhile });
  check(`a click sets a breakpoint at line ${line}`, (await page.locator(".jp-DebuggerBreakpoint-line").innerText()) === String(line));
}

// A breakpoint set by a click stops a cell; its variables are shown; it steps, and goes on.
async function debug(page) {
  await startDebugger(page);
  await type(page, "func area(w, h int) int {\na := w * h\nreturn a\n}\nsizes := []int{2, 3}\nside := area(sizes[0], sizes[1])\nside");
  await breakpoint(page, 3);
  await page.keyboard.press("Control+Enter");
  await stoppedAt(page, "the cell stops at the breakpoint", ({ stack, names, lines }) =>
    stack.length === 2 && stack[0].startsWith("area") && names.some((x) => x.startsWith("a") && x.includes("6")) && lines.some((x) => x === "return a"));
  await page.screenshot({ path: path.join(folder, "debugger.png") });
  await page.click(".jp-DebuggerBreakpoint"); // its marker
  await command(page, "debugger:stepOut");
  await stoppedAt(page, "a step out stops in the cell", ({ stack }) => stack.length === 1 && stack[0].startsWith("cell") && stack[0].endsWith(":7"));
  await command(page, "debugger:continue");
  await ran(page);
  check("the cell goes on to its value", (await last(page)).includes("6"));
  await page.click(".jp-DebuggerBugButton");
}

const kernel = `%%ptx
.version 7.0
.target sm_75
.address_size 64
.visible .entry raised(.param .u64 x) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<3>;
  .reg .f32 %f<3>;
  .shared .align 4 .b8 tile[128];
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, 0f3F000000;
  st.shared.f32 [%r2], %f2;
  st.global.f32 [%rd1], %f2;
  ret;
}`;

// paste writes a cell at the end of the notebook, without the editor's brackets and
// indentation, and runs it.
async function paste(page, code) {
  await type(page, "");
  await page.keyboard.insertText(code);
  await page.keyboard.press("Control+Enter");
  await ran(page);
}

// evaluate runs a line in the debugger's console, which it opens.
async function evaluate(page, text) {
  const prompt = page.locator(".jp-DebugConsole-widget .jp-CodeConsole-promptCell .cm-content");
  if (!await prompt.count()) await command(page, "debugger:evaluate");
  await prompt.click();
  await page.keyboard.insertText(text);
  await page.keyboard.press("Shift+Enter");
}

// A breakpoint stops a kernel on the emulator; another lane gets the focus; the launch goes
// back to the line before, and on to its end.
async function debugKernel(page) {
  await startDebugger(page);
  await paste(page, 'import ("warpbook/gpu"; "warpbook/gpu/device")\nemulator, err := device.Open("emu")\nhalf, err := gpu.Upload(emulator, make([]float32, 1))');
  await paste(page, kernel);
  await edit(page);
  await breakpoint(page, 15);
  await type(page, "raised.Launch(emulator, gpu.Dim{X: 1}, gpu.Dim{X: 32}, half)");
  await page.keyboard.press("Control+Enter");
  await stoppedAt(page, "the kernel stops at the breakpoint", ({ stack, lines }) =>
    stack[0]?.startsWith("raised") && stack[0].endsWith(":15") && lines.some((x) => x.startsWith("st.shared")));
  await evaluate(page, "%debug focus lane 5");
  await page.selectOption("select:has(option[value=Thread])", "Thread");
  await stoppedAt(page, "another lane has the focus", ({ names }) => names.some((x) => /^lane\b.*\b5$/.test(x)));
  await page.screenshot({ path: path.join(folder, "kernel.png") });
  await evaluate(page, "%debug back");
  await stoppedAt(page, "the launch goes back", ({ stack, names }) => stack[0]?.startsWith("raised") && stack[0].endsWith(":14") && names.length > 0);
  await page.screenshot({ path: path.join(folder, "kernel-back.png") });
  await command(page, "debugger:next");
  await stoppedAt(page, "and forward", ({ stack }) => stack[0]?.endsWith(":15"));
  await page.click(".jp-DebuggerBreakpoint");
  await command(page, "debugger:continue");
  await ran(page);
  check("the launch ends", !(await last(page)).includes('"error"'), (await last(page)).slice(0, 200));
  await page.click(".jp-DebuggerBugButton");
}

async function death(page) {
  const text = await run(page, "m := map[int]int{}\nfor i := range 8 { go func() { for { m[i]++ } }() }\nselect {}");
  const shown = text.slice(text.lastIndexOf('"evalue"'));
  check("a fatal error ends the cell, not the kernel", shown.includes("concurrent map") && shown.includes("variables are gone"), shown.slice(0, 200));
  check("the next cell runs", (await run(page, "6 * 7")).includes("42"));
  const killed = await run(page, 'import ("os"; "syscall")\nsyscall.Kill(os.Getpid(), syscall.SIGKILL)\nselect {}');
  check("a killed cells process is named", killed.includes("signal: killed") && killed.includes("variables are gone"), killed.slice(0, 200));
  check("the next cell runs", (await run(page, "6 * 7")).includes("42"));
}

async function failure(page) {
  const text = await run(page, "var none []int\nnone[3] = 1");
  check("an error shows its line", text.includes("line 2") && text.includes("index out of range"), text.slice(0, 200));
  await page.screenshot({ path: path.join(folder, "error.png") });
}

async function restart(page) {
  const start = Date.now();
  const restarted = command(page, "kernelmenu:restart");
  await page.click(".jp-Dialog .jp-mod-accept");
  await restarted; // idle is also the state before
  await page.waitForFunction(() => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    return kernel.status === "idle" && kernel.connectionStatus === "connected";
  });
  check("restart", true, `${Date.now() - start} ms`);
  check("variables are gone after it", (await run(page, "kept")).includes("undefined"));
  check("the result of controls stays", JSON.stringify(await outputs(page)).includes("<1 false down>"));
}

async function reopenUntrusted(browser, root, data, before) {
  const lab = await startLab(root, data);
  const page = await open(browser, lab);
  const trusted = await page.evaluate(() => [...window.jupyterapp.shell.currentWidget.model.cells].filter((c) => c.type === "code" && c.outputs.length).some((c) => c.trusted));
  check("reopened untrusted", !trusted);
  const seen = await visible(page);
  check("plots and tables are still there", seen.images === before.images && seen.tables === before.tables && !seen.blank.length,
    `${seen.images} of ${before.images} images, ${seen.tables} of ${before.tables} tables`);
  await shots(page, "untrusted");
  await page.close();
  await lab.stop();
}

(async () => {
  fs.mkdirSync(folder, { recursive: true });
  const tmp = fs.mkdtempSync(path.join(require("os").tmpdir(), "lab-"));
  const root = path.join(tmp, "root");
  fs.mkdirSync(root);
  fs.copyFileSync(notebook, path.join(root, name));
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"], timeout: aWhile });
  try {
    const lab = await startLab(root, path.join(tmp, "first"));
    const page = await open(browser, lab);
    const seen = await runAll(page);
    await shots(page, "run");
    await command(page, "docmanager:save");
    await pause(1000);
    fs.copyFileSync(path.join(root, name), path.join(tmp, "saved"));
    await failure(page);
    await abort(page);
    await stopAndKeep(page);
    await assistance(page);
    await face(page);
    await stdin(page);
    await subshell(page);
    await controls(page);
    await usagePanel(page);
    await debug(page);
    await debugKernel(page);
    await death(page);
    await restart(page);
    await page.close();
    await lab.stop();
    fs.copyFileSync(path.join(tmp, "saved"), path.join(root, name));
    await reopenUntrusted(browser, root, path.join(tmp, "second"), seen);
  } catch (e) {
    check("no exception", false, e.stack);
    for (const page of browser.contexts().flatMap((c) => c.pages())) await page.screenshot({ path: path.join(folder, "exception.png") });
  }
  await browser.close();
  for (const lab of labs) await lab.stop();
  fs.rmSync(tmp, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  console.log(`${failed} failed`);
  process.exit(failed ? 1 : 0);
})();
