// Screenshots of a report, for inspection and for the README.
//
//   npm ci && node screenshots.mjs REPORT.html FOLDER [WIDTHxHEIGHT [SECTION…]]
//
// Writes light.png, dark.png, narrow.png (390 px) and print.pdf, each of the whole page. With a size, also top-light.png and
// top-dark.png, which show that much of its beginning. With ids of sections (throughput, latency), also a picture of each.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, folder, size, ...sections] = process.argv.slice(2);
if (!report || !folder) {
  console.error("usage: node screenshots.mjs REPORT.html FOLDER [WIDTHxHEIGHT]");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** Opens the report in a viewport and a colour scheme, and passes the page on. */
async function look(viewport, colorScheme, take) {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(pathToFileURL(resolve(report)).href);
  await take(page);
  await page.close();
}

const whole = (name) => (page) => page.screenshot({ path: join(folder, name), fullPage: true });
await look({ width: 1200, height: 900 }, "light", whole("light.png"));
await look({ width: 1200, height: 900 }, "dark", whole("dark.png"));
await look({ width: 390, height: 844 }, "light", whole("narrow.png"));
await look({ width: 1200, height: 900 }, "light", (page) => page.pdf({ path: join(folder, "print.pdf"), preferCSSPageSize: true, printBackground: true }));
if (size) {
  const [width, height] = size.split("x").map(Number);
  for (const scheme of ["light", "dark"]) {
    await look({ width, height }, scheme, (page) => page.screenshot({ path: join(folder, `top-${scheme}.png`) }));
    for (const id of sections) {
      const section = `section[aria-labelledby="${id}"]`;
      await look({ width, height }, scheme, (page) => page.locator(section).screenshot({ path: join(folder, `${id}-${scheme}.png`) }));
    }
  }
}
await browser.close();
