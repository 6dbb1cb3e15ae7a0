// Opens reports in a browser and tests what only a browser can show.
//
//   npm ci && TOLOK_REPORTS="a.html:folder" npm test
//
// TOLOK_REPORTS contains the paths of report pages, and of folders with such pages, separated by colons. CHROMIUM is the browser,
// /usr/bin/chromium by default. If either is missing, the tests are skipped with the reason.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const reports = (process.env.TOLOK_REPORTS ?? "").split(":").filter((path) => path !== "").flatMap(pages);

const wide = { width: 1200, height: 900 };
const telephone = { width: 390, height: 844 };

/** The page at a path, or all pages of a folder. A missing path is an error: without a page, nothing would be tested. */
function pages(path) {
  if (!statSync(path).isDirectory()) return [resolve(path)];
  const names = readdirSync(path).filter((name) => name.endsWith(".html")).sort();
  if (names.length === 0) throw new Error(`there is no report in ${path}`);
  return names.map((name) => resolve(join(path, name)));
}

function reasonToSkip() {
  if (reports.length === 0) return "TOLOK_REPORTS names no report";
  if (!existsSync(browserPath)) return `there is no browser at ${browserPath}`;
  return false;
}

// Each report has its own pages, so two reports can be tested at once: one for each CPU of a small machine. A report is loaded
// twice, once under its own policy and once for everything else, because loading takes longer than testing.
describe("reports", { skip: reasonToSkip(), concurrency: 2 }, () => {
  let browser;

  before(async () => {
    const quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", ...quiet] });
  });

  after(() => browser.close());

  /** Opens a report and passes on the page, with all console messages and requests while it loaded. */
  async function open(path, options, look) {
    const context = await browser.newContext({ viewport: wide, colorScheme: "light", ...options });
    const page = await context.newPage();
    const [messages, requests] = [[], []];
    page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => messages.push(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    try {
      await page.goto(pathToFileURL(path).href, { waitUntil: "load" });
      await look(page, { messages, requests });
    } finally {
      await context.close();
    }
  }

  for (const path of reports) {
    test(basename(path), async (report) => {
      await report.test("says nothing on the console and asks for nothing but itself", async () => {
        await open(path, {}, (page, { messages, requests }) => {
          assert.deepEqual(messages, []);
          assert.deepEqual(requests, [pathToFileURL(path).href]);
        });
      });
      // The page's own policy forbids scripts, and axe is one; only the test may bypass it.
      await open(path, { bypassCSP: true }, (page) => looks(report, page));
    });
  }
});

/** All tests of one page. It is unfolded at the end, because nothing folds it again. */
async function looks(report, page) {
  await report.test("has one main part, a language, and a way from its top to the verdict", async () => {
    assert.equal(await page.locator("main").count(), 1);
    assert.equal(await page.getAttribute("html", "lang"), "en");
    await page.keyboard.press("Tab");
    const link = page.locator(":focus");
    assert.ok(await link.isVisible(), "what has the focus first can be seen");
    await link.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "verdict");
  });

  await report.test("headings go down one level at a time, and every section has one", async () => {
    assert.deepEqual(await page.evaluate(misplacedHeadings), []);
  });

  for (const viewport of [wide, telephone]) {
    await report.test(`no text of a chart lies outside it or on something else at ${viewport.width} px`, async () => {
      await page.setViewportSize(viewport);
      assert.deepEqual(await page.evaluate(misplacedTexts), []);
    });
  }

  await report.test("its contents lead to each section, and are not on paper", async () => {
    await page.setViewportSize({ width: 1900, height: 900 });
    const links = await page.locator("nav.contents a").evaluateAll((all) => all.map((link) => link.hash.slice(1)));
    assert.deepEqual(links, await page.locator("h2").evaluateAll((all) => all.map((heading) => heading.id)));
    const [contents, main] = await Promise.all([page.locator("nav.contents").boundingBox(), page.locator("h1").boundingBox()]);
    assert.ok(contents.x + contents.width <= main.x, "where there is room the contents stand beside the page");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("nav.contents").isVisible(), false);
  });

  await report.test("what is folded away is on paper, and nothing sticks out of it", async () => {
    // The area between the margins of an A4 page.
    await page.setViewportSize({ width: 688, height: 1000 });
    await page.emulateMedia({ media: "print" });
    assert.deepEqual(await page.evaluate(lostOnPaper), []);
  });

  await page.emulateMedia({ media: "screen" });
  await unfold(page);

  for (const viewport of [telephone, wide]) {
    await report.test(`needs no scrolling sideways at ${viewport.width} px`, async () => {
      await page.setViewportSize(viewport);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= viewport.width, `the page is ${width} px wide`);
    });
  }

  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ media: "screen", colorScheme });

    await report.test(`text in charts can be read in ${colorScheme}`, async () => {
      assert.deepEqual(await page.evaluate(faintTexts), []);
    });

    await report.test(`axe finds nothing to object to in ${colorScheme}`, async () => {
      const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
      assert.deepEqual(found, []);
    });
  }
}

/** Opens all folded parts. */
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
}

/** Runs in the page: headings that skip a level, and sections without their own heading. */
function misplacedHeadings() {
  const found = [];
  let last = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) found.push(`${heading.tagName} after H${last}: ${heading.textContent}`);
    last = level;
  }
  for (const section of document.querySelectorAll("section[aria-labelledby]")) {
    const id = section.getAttribute("aria-labelledby");
    if (section.querySelector("h2")?.id !== id) found.push(`section ${id}`);
  }
  return found;
}

/** Runs in the page as printed: folded parts without height, and tables wider than the paper. */
function lostOnPaper() {
  const width = document.documentElement.clientWidth;
  // Parts that are too long for paper are left out, and the next sentence says where they are.
  const isWithin = (part) => part.parentElement.closest(".long") !== null;
  const unsaid = [...document.querySelectorAll("details.long")].filter((part) => !isWithin(part) && !(part.nextElementSibling?.matches(".on-paper") && part.nextElementSibling.checkVisibility()));
  const folded = [...document.querySelectorAll("details:not([open]):not(.long) table")].filter((table) => table.closest(".long") === null && table.getBoundingClientRect().height === 0);
  const wide = [...document.querySelectorAll("table")].filter((table) => table.getBoundingClientRect().right > width + 1);
  return [...unsaid.map((part) => `left out: ${part.textContent}`), ...folded.map((table) => `folded: ${table.textContent}`), ...wide.map((table) => `wide: ${table.textContent}`)].map((text) => text.slice(0, 120));
}

/** Runs in the page: texts of charts that extend beyond their chart, or overlap another text, a bar or a whisker. */
function misplacedTexts() {
  const found = [];
  const box = (element) => ({ name: element.textContent || element.getAttribute("class"), ...element.getBoundingClientRect().toJSON() });
  for (const chart of document.querySelectorAll("figure svg")) {
    const frame = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "").map(box);
    const marks = [...chart.querySelectorAll(".bar, .dot, .ci, .ceil")].map(box);
    for (const [place, text] of texts.entries()) {
      // A J extends a little to the left of its position.
      if (text.left < frame.left - 2 || text.right > frame.right + 1 || text.bottom > frame.bottom + 2) found.push(`outside: ${text.name}`);
      for (const other of [...texts.slice(place + 1), ...marks]) {
        const across = Math.min(text.right, other.right) - Math.max(text.left, other.left);
        const down = Math.min(text.bottom, other.bottom) - Math.max(text.top, other.top);
        // Boxes are as high as a line, so close neighbours above or below touch a little without their letters meeting.
        if (across > 0.5 && down > 4) found.push(`overlap: ${text.name} | ${other.name}`);
      }
    }
  }
  return found;
}

/** Runs in the page: texts of charts with a contrast below 4.5 to their background, which axe does not check. */
function faintTexts() {
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).map((value) => channel(Number(value) / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /** The nearest colour behind a chart, from whichever ancestor sets it, or that of an area painted under the text. */
  const behind = (text) => {
    let element = text.closest("svg").parentElement;
    while (element && /rgba\(.*, 0\)/.test(getComputedStyle(element).backgroundColor)) element = element.parentElement;
    const ground = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    const box = text.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    const isUnder = (area) => {
      const { left, right, top, bottom } = area.getBoundingClientRect();
      const isBefore = area.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
      const { fill, opacity, fillOpacity } = getComputedStyle(area);
      return isBefore && left <= x && x <= right && top <= y && y <= bottom && fill.startsWith("rgb(") && opacity * fillOpacity > 0.9;
    };
    const areas = [...text.closest("svg").querySelectorAll("rect")].filter(isUnder);
    return areas.length > 0 ? getComputedStyle(areas.at(-1)).fill : ground;
  };
  const found = [];
  for (const text of document.querySelectorAll("svg text")) {
    if (text.textContent.trim() === "" || text.getBoundingClientRect().width === 0) continue;
    const [one, other] = [getComputedStyle(text).fill, behind(text)].map(luminance);
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(1)}: ${text.textContent}`);
  }
  return found;
}
