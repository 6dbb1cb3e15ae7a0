// Opens the pages of `tolok serve` in a browser, with stored runs and with one that is being written.
//
//   npm ci && TOLOK=target/debug/tolok TOLOK_STORED_RUNS=folder node --test serve.test.mjs
//
// TOLOK is the program, TOLOK_STORED_RUNS a folder written by the example `stored-runs` of tolok-serve; the tests copy it. CHROMIUM
// is the browser, /usr/bin/chromium by default. If one is missing, the tests are skipped with the reason.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [tolok, stored] = [process.env.TOLOK ?? "", process.env.TOLOK_STORED_RUNS ?? ""];

const wide = { width: 1200, height: 900 };
const telephone = { width: 390, height: 844 };
const [first, second, elsewhere] = ["2026-11-21-api-000001", "2026-11-22-api-000002", "2026-11-19-api-e15e00"];
const live = "2026-11-24-live-11fe00";

const pages = {
  "the list": "/",
  "the list, filtered to nothing": "/?filter=nothing%20is%20like%20this",
  "a finished run": `/runs/${first}/`,
  "its trials": `/runs/${first}/live`,
  "a stopped run": "/runs/2026-11-23-quick-57099d/",
  "a running run": `/runs/${live}/`,
  "its events": `/runs/${live}/live`,
  "two runs compared": `/compare?a=${first}&b=${second}`,
  "runs that are not compared": `/compare?a=${first}&b=${elsewhere}`,
  "runs over each other": `/overlay?run=${first}&run=${second}`,
  "a run that cannot be read": "/runs/2026-11-20-quick-0bad00/",
  "no run": "/runs/latest/",
};

function reasonToSkip() {
  if (!existsSync(tolok)) return "TOLOK names no program";
  if (!existsSync(stored)) return "TOLOK_STORED_RUNS names no folder";
  if (!existsSync(browserPath)) return `there is no browser at ${browserPath}`;
  return false;
}

describe("tolok serve", { skip: reasonToSkip() }, () => {
  let browser, server, base, runs, writer;

  before(async () => {
    runs = mkdtempSync(join(tmpdir(), "tolok-serve-"));
    cpSync(stored, runs, { recursive: true });
    writer = await Writer.of(join(runs, live));
    server = spawn(tolok, ["serve", "--port", "0", "--runs", runs], { stdio: ["ignore", "pipe", "ignore"] });
    base = (await firstLine(server)).replace(/\/$/, "");
    const quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", ...quiet] });
  });

  after(async () => {
    await browser?.close();
    await writer?.end();
    server?.kill("SIGINT");
    const code = await new Promise((resolve) => (server ? server.once("exit", resolve) : resolve(0)));
    rmSync(runs, { recursive: true, force: true });
    assert.equal(code, 0, "an interrupted server has done what it should");
  });

  /** Opens a page and passes it on, with all console messages and requests. */
  async function open(path, options, look) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const [messages, requests] = [[], []];
    // Some pages are error pages: the browser reports their status on the console.
    page.on("console", (message) => /status of (404|422|500)/.test(message.text()) || messages.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => messages.push(String(error)));
    page.on("request", (asked) => requests.push(asked.url()));
    try {
      await page.goto(base + path, { waitUntil: "load" });
      await look(page, { messages, requests, context });
    } finally {
      await context.close();
    }
  }

  for (const [name, path] of Object.entries(pages)) {
    test(`${name}: says nothing on the console, and nothing leaves the server`, async () => {
      await open(path, { viewport: wide }, async (page, { messages, requests }) => {
        assert.ok((await page.title()).endsWith("– tolok"));
        assert.deepEqual(messages, []);
        assert.deepEqual(requests.filter((url) => !url.startsWith(`${base}/`) && url !== "data:,"), []);
      });
    });

    for (const viewport of [wide, telephone]) {
      test(`${name}: needs no scrolling sideways at ${viewport.width} px`, async () => {
        await open(path, { viewport }, async (page) => {
          await unfold(page);
          const width = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(width <= viewport.width, `the page is ${width} px wide`);
        });
      });
    }

    for (const colorScheme of ["light", "dark"]) {
      test(`${name}: axe finds nothing to object to in ${colorScheme}`, async () => {
        // The page's own policy forbids third-party scripts, and axe is one; only the test may bypass it.
        await open(path, { viewport: wide, colorScheme, bypassCSP: true }, async (page) => {
          await unfold(page);
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => globalThis.axe.run());
          assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`), []);
        });
      });
    }

    test(`${name}: the keyboard reaches everything in the order of the page, and one sees where it is`, async () => {
      await open(path, { viewport: wide }, async (page) => {
        const expected = await page.evaluate(reachable);
        const reached = [];
        for (let step = 0; step < expected.length; step += 1) {
          await page.keyboard.press("Tab");
          reached.push(await page.evaluate(focused));
        }
        assert.deepEqual(reached, expected.map((label) => `${label}, outlined`));
      });
    });

    test(`${name}: can be read without a script`, async () => {
      await open(path, { viewport: wide, javaScriptEnabled: false }, async (page) => {
        assert.equal(await page.locator("h1").count(), 1);
        assert.notEqual((await page.locator("main").innerText()).trim(), "");
      });
    });
  }

  test("a report is served with its own rules and without a script", async () => {
    await open(`/runs/${first}/report`, { viewport: wide }, async (page, { messages, requests }) => {
      assert.match(await page.locator("h1").innerText(), /Is the API as fast/);
      assert.deepEqual([messages, requests], [[], [`${base}/runs/${first}/report`]]);
    });
  });

  test("the list is narrowed while one types, and by the server without a script", async () => {
    await open("/", { viewport: wide }, async (page) => {
      await page.getByRole("searchbox").fill("api finished");
      assert.deepEqual(await page.locator(".run:visible code").allInnerTexts(), [second, first, elsewhere]);
      assert.equal(await page.locator("#shown").innerText(), "3 of 7 runs");
    });
    await open("/", { viewport: wide, javaScriptEnabled: false }, async (page) => {
      await page.getByRole("searchbox").fill("api finished");
      await page.keyboard.press("Enter");
      await page.waitForURL(/filter=/);
      assert.deepEqual(await page.locator(".run code").allInnerTexts(), [second, first, elsewhere]);
    });
  });

  test("two chosen runs are compared, the earlier one as the one before, with what tolok compare says", async () => {
    await open("/", { viewport: wide }, async (page) => {
      assert.ok(await page.getByRole("button", { name: "Compare" }).isDisabled());
      // The later one is listed first, and is chosen first.
      for (const id of [second, first]) await page.getByLabel(`Choose ${id}`).check();
      await page.getByRole("button", { name: "Compare" }).click();
      await page.waitForURL(`${base}/compare?a=${first}&b=${second}`);
      assert.match(await page.locator(".verdict .chip").innerText(), /Changed between these two runs/);
      assert.match(await page.locator(".verdict .big").innerText(), /^Changed between these two runs: 6 figures are worse by 3% or more/);
    });
  });

  test("runs of different conditions are refused with the reasons, and can be compared nevertheless", async () => {
    await open("/overlay?run=" + first + "&run=" + second, { viewport: wide }, async (page) => {
      assert.equal(await page.locator("figure svg").count(), 4);
      await page.getByRole("link", { name: "Compare them" }).click();
      await page.waitForURL(/compare/);
    });
    await open(pages["runs that are not compared"], { viewport: wide }, async (page) => {
      assert.match(await page.locator("main").innerText(), /CPU model: Example CPU 3000 → Other CPU 9/);
      await page.getByRole("link", { name: /anyway/ }).click();
      await page.waitForURL(/allow-differences/);
      assert.match(await page.locator("#conditions").innerText(), /conditions differ/);
    });
  });

  test("others are not answered, and names of files lead nowhere", async () => {
    assert.equal(await status("/", { host: "evil.example" }), 421);
    assert.equal(await status("/", {}, "POST"), 405);
    for (const path of ["/runs/..%2f..%2fetc/", "/runs/%2e%2e/", "/runs/../../etc/passwd", `/runs/${first}/run.json`, `/runs/${first}/report.`]) {
      assert.equal(await status(path), 404, path);
    }
  });

  function status(path, headers = {}, method = "GET") {
    const { hostname, port } = new URL(base);
    return new Promise((resolve, reject) => {
      const asked = request({ hostname, port, path, method, headers }, (answer) => resolve(answer.resume().statusCode));
      asked.on("error", reject).end();
    });
  }

  // This test is last, because it ends the run.
  test("a running run is followed second by second without loading the page again, until it ends", async () => {
    await open(`/runs/${live}/live`, { viewport: wide }, async (page, { messages, requests }) => {
      const says = (selector, text) => page.waitForFunction(([selector, text]) => document.querySelector(selector)?.textContent.includes(text), [selector, text]);
      writer.tell({ event: "trial-started", trial: 1, block: 1, case: writer.cases[0], subject: "go/nethttp", scenario: "json-c64" });
      await says("#status", "Trial 1 of 6: Go net/http, json-c64.");
      writer.tell({ event: "phase", trial: 1, phase: "warming-up" });
      await says("#phase", "warming up");
      const tellSecond = (start_s, good, failed, p50_s) => writer.tell({ event: "second", trial: 1, phase: start_s < 0 ? "warming-up" : "measuring", start_s, duration_s: 1, good, failed, p50_s, p99_s: 0.0048 });
      tellSecond(-1, 20_000, 0, null);
      await page.getByRole("img", { name: "correct responses/s, in the last second 20.0k" }).waitFor();
      tellSecond(0, 34_000, 2, 0.0017);
      await page.getByRole("img", { name: "response times, in the last second p50 1.70 ms, p99 4.80 ms" }).waitFor();
      assert.deepEqual([await page.locator(".warming").count(), await page.locator(".cross").count()], [2, 1]);
      // Half a line is not read as an event, but the complete line is.
      writer.write('{"t_s":3,"event":"trial-finished","trial":1,"block":1,"case":"' + writer.cases[0]);
      writer.write('","subject":"go/nethttp","scenario":"json-c64","outcome":"completed","goodput_rps":34300,"p50_s":0.0017,"p99_s":0.0048,"left_s":50}\n');
      await says(`tr[data-case="${writer.cases[0]}"] .median`, "34.3k");
      await says("#done", "1 of 6 trials");
      await says("#left", "about 50 s left");
      const place = (name) => `.standing li[data-case="${name}"]`;
      await says(`${place(writer.cases[0])} .value`, "34.3k");
      await says(`${place(writer.cases[0])} .rounds`, "1 of 3 rounds");
      writer.tell({ event: "trial-finished", trial: 2, block: 1, case: writer.cases[1], subject: "bun/serve", scenario: "json-c64", outcome: "completed", goodput_rps: 68_600, left_s: 40 });
      await says(`${place(writer.cases[0])} .ratio`, "0.50×");
      const order = await page.locator(".standing li").evaluateAll((items) => items.map((item) => item.dataset.case));
      assert.deepEqual(order, [writer.cases[1], writer.cases[0]]);
      await says("#left", "about 40 s left");
      writer.tell({ event: "disturbed", trial: 2, reasons: ["other programs used 12% of the CPUs"], again: true });
      await says("#log", "Trial 2 was disturbed (other programs used 12% of the CPUs) and is measured again.");
      writer.tell({ event: "run-ended", missing: 5, failed: 0 });
      await says("#state", "stopped");
      await page.getByRole("link", { name: "See the result" }).waitFor();
      assert.deepEqual(messages, []);
      assert.equal(requests.filter((url) => url.endsWith("/live")).length, 1);
      assert.equal(requests.filter((url) => url.endsWith("/events")).length, 1);
    });
  });
});

/** Writes the events of a run like the lab, and holds its lock. */
class Writer {
  static async of(run) {
    const writer = new Writer();
    writer.file = join(run, "events.jsonl");
    const plan = JSON.parse(readFileSync(join(run, "plan.json"), "utf8"));
    writer.cases = plan.cases.map((one) => one.id);
    // Node has no file locks; this program holds the lock as long as its input is open.
    writer.lock = spawn("flock", ["--nonblock", join(run, ".lock"), "sh", "-c", "echo held; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
    assert.equal(await firstLine(writer.lock), "held");
    writer.tell({ event: "run-started", schema_version: 1, run: plan.title, folder: run, title: plan.title, pid: process.pid, trials: 6, finished: 0, estimate_s: 60.5 });
    return writer;
  }

  tell(event) {
    this.write(`${JSON.stringify({ t_s: 1, ...event })}\n`);
  }

  write(text) {
    appendFileSync(this.file, text);
  }

  async end() {
    this.lock.stdin.end();
    await new Promise((resolve) => this.lock.once("exit", resolve));
  }
}

/** The first line that a program prints. */
function firstLine(child) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`it ended with ${code} before it said anything`)));
  });
}

/** Opens all folded parts. */
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
}

/** Runs in the page: the elements that the keyboard must reach, in page order. */
function reachable() {
  const label = (element) => `${element.tagName} ${element.id || element.getAttribute("href") || element.getAttribute("aria-label") || element.textContent.trim()}`;
  const all = document.querySelectorAll("a[href], button:not(:disabled), input:not([type=hidden]):not(:disabled), select, summary, [tabindex='0']");
  return [...all].filter((element) => element.checkVisibility() && !element.closest("noscript")).map(label);
}

/** Runs in the page: the focused element, and whether its focus is visible. */
function focused() {
  const element = document.activeElement;
  const label = `${element.tagName} ${element.id || element.getAttribute("href") || element.getAttribute("aria-label") || element.textContent.trim()}`;
  const box = element.getBoundingClientRect();
  const isSeen = getComputedStyle(element).outlineStyle !== "none" && box.right > 0 && box.width > 0;
  return `${label}, ${isSeen ? "outlined" : "not outlined"}`;
}
