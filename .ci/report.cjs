// Opens a report in headless Chromium with the network off: no console error,
// no request, every image decoded and visible. Usage: report.cjs HTML PNG
const { chromium } = require("playwright-core");
const path = require("path");

(async () => {
  const [html, png] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"], timeout: 120000 });
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
  if (images.length === 0) problems.push("no plot in the report");
  for (const i of images) if (!i.natural || i.width < 100 || i.height < 50) problems.push("plot not visible: " + JSON.stringify(i));
  await page.screenshot({ path: png, fullPage: true });
  await browser.close();
  console.log(`${images.length} plots, ${problems.length} problems`);
  problems.forEach((p) => console.log(p));
  process.exit(problems.length ? 1 : 0);
})();
