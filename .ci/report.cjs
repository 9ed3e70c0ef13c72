// Opens reports in headless Chromium with the network off: no console error, no
// request, every image decoded and visible, and no serious or critical finding
// of axe, in light and in dark colours; the report of reduce prints on at most 30
// pages. Usage: report.cjs HTML... PNG, for a picture of the first.
const { chromium } = require("playwright-core");
const axe = require("axe-core");
const path = require("path");

// withoutPlots are reports that have no plot on the emulator.
const withoutPlots = ["11-streams-events-graphs.html", "15-many-gpus.html", "19-programs.html"];

// findings are axe's serious and critical violations of the rules of WCAG 2.2,
// A and AA, and of its best practices.
async function findings(page) {
  await page.evaluate(axe.source); // not a script element: the page's policy allows none
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => {
    const first = v.nodes.slice(0, 3).map((n) => n.target.join(" ") + ": " + (n.any[0] || n.all[0] || n.none[0]).message);
    return `axe, ${v.impact}: ${v.id}: ${v.help}, ${v.nodes.length} places: ${first.join("; ")}`;
  });
}

// check opens one report and returns what is wrong with it.
async function check(browser, html, png) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1100, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120000); // of a busy machine
  const problems = [];
  page.on("console", (m) => m.type() === "error" && problems.push("console: " + m.text()));
  page.on("pageerror", (e) => problems.push("page: " + e.message));
  page.on("request", (r) => /^(file|data):/.test(r.url()) || problems.push("request: " + r.url()));
  await page.goto("file://" + path.resolve(html));
  const images = await page.$$eval("img", (all) =>
    all.map((i) => ({ width: i.clientWidth, height: i.clientHeight, natural: i.naturalWidth, alt: i.alt })));
  if (images.length === 0 && !withoutPlots.includes(path.basename(html))) problems.push("no plot in the report");
  for (const i of images) if (!i.natural || i.width < 100 || i.height < 50) problems.push("plot not visible: " + JSON.stringify(i));
  if (png) await page.screenshot({ path: png, fullPage: true });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    problems.push(...(await findings(page)).map((f) => colorScheme + ": " + f));
  }
  await page.emulateMedia({ colorScheme: null });
  const pages = (await page.pdf({ preferCSSPageSize: true, format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;
  if (path.basename(html) === "01-reduce.html" && pages > 30) problems.push(`${pages} printed pages, expected at most 30`);
  await context.close();
  console.log(`${path.basename(html)}: ${images.length} plots, ${pages} printed pages, ${problems.length} problems`);
  return problems;
}

(async () => {
  const reports = process.argv.slice(2, -1);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"], timeout: 120000 });
  const problems = [];
  for (const [i, html] of reports.entries()) problems.push(...(await check(browser, html, i === 0 && process.argv.at(-1))));
  await browser.close();
  problems.forEach((p) => console.log(p));
  process.exit(problems.length || !reports.length ? 1 : 0);
})();
