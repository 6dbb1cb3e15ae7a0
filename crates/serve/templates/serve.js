// Optional conveniences; every page also works without scripts. Filters the list as the user types, counts the chosen runs, and
// follows a run by its events.

const LOG_MAX = 6;
const RENEWED_MS = 5000;
const NONE = "–";

const byId = (id) => document.getElementById(id);

/** Formats with three significant digits. */
function digits(value) {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** Formats a number without a unit: `34.3k`. */
function number(value) {
  if (value == null) return NONE;
  const [divisor, unit] = value >= 999.5e3 ? [1e6, "M"] : value >= 999.5 ? [1e3, "k"] : [1, ""];
  return digits(value / divisor) + unit;
}

/** Formats a duration: `842 µs`, `1.25 ms`. */
function seconds(value) {
  if (value == null) return NONE;
  const [divisor, unit] = value >= 0.9995 ? [1, "s"] : value >= 0.9995e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
  return `${digits(value / divisor)}\u00a0${unit}`;
}

/** Formats the time left: `45 s`, `2 min 10 s`, `1 h 5 min`. */
function timeLeft(value) {
  const all = Math.max(0, Math.round(value));
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${all % 60} s` : `${all} s`;
}

function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Sets a text only if it differs, so that screen readers don't announce it again. */
function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** Creates an SVG element. Strings become text nodes, so a subject's name cannot inject markup. */
function drawn(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// The list of runs.

function listen(form) {
  const [filter, shown, chosen] = [byId("filter"), byId("shown"), byId("chosen")];
  const [compare, overlay, history] = [byId("compare"), byId("overlay"), byId("history")];
  let runs = [...form.querySelectorAll(".run")];
  let all = shown.textContent;
  let told = form.querySelector(".runs").innerHTML;

  const narrow = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const run of runs) {
      const text = run.dataset.words.toLowerCase();
      // Chosen runs stay visible even if they don't match the filter.
      run.hidden = !words.every((word) => text.includes(word)) && !run.querySelector("input").checked;
      if (!run.hidden) count += 1;
    }
    say(shown, count === runs.length ? all : `${count} of ${runs.length} runs${form.querySelector(".older") ? " on this page; Enter searches all" : ""}`);
  };
  const tell = () => {
    const count = runs.filter((run) => run.querySelector("input").checked).length;
    compare.disabled = count !== 2;
    overlay.disabled = count < 2 || count > 8;
    history.disabled = count !== 1 && count < 4;
    const hints = ["Choose one run to see its study over time, two to compare them, or several to overlay.", "One run is chosen: see its study over time, or choose another one.", "Two runs are chosen."];
    say(chosen, hints[count] ?? (count > 8 ? `${count} runs are chosen; eight can be overlaid.` : `${count} runs are chosen.`));
  };
  filter.addEventListener("input", narrow);
  form.addEventListener("change", tell);
  // Keeps the choice, and skips the update while the form has the focus, so the list doesn't change under a keyboard user.
  const renew = async () => {
    if (document.hidden || form.contains(document.activeElement)) return;
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector(".runs");
    if (!fresh || fresh.innerHTML === told) return;
    told = fresh.innerHTML;
    all = page.getElementById("shown").textContent;
    const kept = new Set(runs.map((run) => run.querySelector("input")).filter((box) => box.checked).map((box) => box.value));
    for (const box of fresh.querySelectorAll("input")) box.checked = kept.has(box.value);
    form.querySelector(".runs").replaceWith(fresh);
    runs = [...fresh.querySelectorAll(".run")];
    narrow();
    tell();
  };
  setInterval(renew, RENEWED_MS);
  // When the user comes back to the page, the browser restores its checkboxes.
  addEventListener("pageshow", tell);
  tell();
}

// The page of a run in progress.

class Follower {
  constructor(section) {
    this.section = section;
    this.isRunning = section.dataset.running === "yes";
    this.planned = Number(section.dataset.planned);
    this.finished = Number(byId("progress").value);
    this.rows = new Map();
    for (const row of document.querySelectorAll("tr[data-case]")) this.rows.set(row.dataset.case, new Row(row));
    this.standings = [...document.querySelectorAll("ol.standing")].map((list) => new Standing(list));
    this.current = null;
    this.shown = null;
    this.notes = [];
    this.disturbed = new Set();
    this.status = null;
    this.phase = null;
    this.left = null;
    this.ended = null;
    this.willDraw = false;
    new ResizeObserver(() => this.draw()).observe(section);
    this.draw();
  }

  follow(address) {
    const source = new EventSource(address);
    const link = byId("link");
    source.onopen = () => say(link, "");
    source.onerror = () => say(link, "The connection is lost; the page tries again.");
    source.onmessage = (message) => {
      this.hear(JSON.parse(message.data));
      this.drawSoon();
    };
    source.addEventListener("end", () => {
      source.close();
      this.end(link);
    });
  }

  /** Takes in an event. */
  hear(told) {
    this.now = told.t_s;
    if (told.trial != null && told.event !== "trial-started" && this.current?.trial !== told.trial) this.begin(told);
    switch (told.event) {
      case "run-started":
        Object.assign(this, { planned: told.trials, finished: told.finished ?? 0, ended: null, current: null });
        this.status = "It begins.";
        this.leaves(told.estimate_s);
        break;
      case "building":
        this.prepares(`Building ${told.subject}.`);
        break;
      case "loading-data":
        this.prepares(`Loading the data of ${told.database}.`);
        break;
      case "waiting":
        this.prepares(`Waiting for a quiet machine: ${(told.reasons ?? []).join("; ")}.`);
        break;
      case "trial-started":
        this.begin(told);
        this.status = `Trial ${told.trial} of ${this.planned}: ${this.title(told)}.`;
        break;
      case "phase":
        this.phase = told.phase.replaceAll("-", " ");
        // A repeated trial starts without seconds.
        if (told.phase === "starting" && this.current) this.current.seconds = [];
        break;
      case "second":
        // Unscored trials are not shown, so their seconds are ignored.
        if (!this.current) break;
        this.current.seconds.push(told);
        this.shown = this.current;
        break;
      case "disturbed":
        if (!told.again) this.disturbed.add(told.trial);
        this.note(`Trial ${told.trial ?? this.current?.trial} was disturbed (${(told.reasons ?? []).join("; ")}) and is ${told.again ? "measured again" : "kept, but no figure includes it"}.`);
        break;
      case "trial-finished":
        this.finish(told);
        break;
      case "diagnosing":
        Object.assign(this, { status: "All trials are done; each case runs once more, unscored.", phase: null, current: null });
        break;
      case "settled":
        this.note(`After ${told.blocks} blocks the rule for stopping holds; at most ${told.at_most} were planned.`);
        break;
      case "run-ended":
        Object.assign(this, { ended: told, current: null, phase: null, left: null });
        this.status = told.missing > 0 ? `It ended; ${told.missing} trials are missing.` : "All trials are done.";
        break;
    }
  }

  begin(told) {
    this.current = { trial: told.trial, case: told.case, subject: told.subject, scenario: told.scenario, seconds: [] };
    this.phase = null;
  }

  finish(told) {
    this.finished += 1;
    this.leaves(told.left_s);
    const isFailed = told.outcome === "failed";
    const counts = !isFailed && !this.disturbed.has(told.trial);
    this.rows.get(told.case)?.add(told.trial, counts ? told.goodput_rps : null, counts ? told.p99_s : null, isFailed);
    for (const standing of this.standings) standing.add(told, counts);
    if (isFailed) this.note(`Trial ${told.trial}, ${this.title(told)}, failed: ${told.message ?? told.reason}`);
  }

  prepares(status) {
    Object.assign(this, { status, phase: null, current: null });
  }

  leaves(left_s) {
    if (left_s != null) this.left = { s: left_s, at: this.now };
  }

  note(text) {
    this.notes = [...this.notes, text].slice(-LOG_MAX);
  }

  title(told) {
    const row = this.rows.get(told.case);
    return `${row ? row.title : told.subject}, ${told.scenario}`;
  }

  drawSoon() {
    if (this.willDraw) return;
    this.willDraw = true;
    requestAnimationFrame(() => {
      this.willDraw = false;
      this.draw();
    });
  }

  draw() {
    if (this.status && this.isRunning) say(byId("status"), this.status);
    if (this.isRunning) say(byId("phase"), this.phase ?? "");
    Object.assign(byId("progress"), { max: this.planned, value: this.finished });
    say(byId("done"), `${this.finished} of ${this.planned} trials`);
    if (this.left && this.isRunning) say(byId("left"), `about ${timeLeft(this.left.s - (this.now - this.left.at))} left`);
    else if (this.ended) say(byId("left"), "");
    const log = byId("log");
    log.hidden = this.notes.length === 0;
    if (log.dataset.told !== this.notes.join()) {
      log.dataset.told = this.notes.join();
      log.replaceChildren(...this.notes.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    }
    for (const standing of this.standings) standing.draw();
    for (const row of this.rows.values()) row.mark(this.current?.case === row.name);
    for (const table of document.querySelectorAll("table.cases")) {
      const rows = [...this.rows.values()].filter((row) => table.contains(row.element));
      const most = Math.max(0, ...rows.flatMap((row) => row.goodputs()));
      rows.forEach((row) => row.draw(most));
    }
    if (this.shown) drawSeconds(this.shown, this.rows.get(this.shown.case)?.colour ?? "r-other", this.title(this.shown));
  }

  /** Shows the end of the run, after its last event. */
  end(link) {
    this.draw();
    if (!this.isRunning) return;
    this.isRunning = false;
    this.left = null;
    const isWhole = this.ended != null && !(this.ended.missing > 0);
    const state = byId("state");
    // Whether the run passed its checks is on its result page.
    state.className = isWhole ? "chip" : "chip warn";
    say(state, isWhole ? "finished" : "! stopped");
    say(byId("status"), this.ended ? this.status : "It was stopped.");
    say(byId("phase"), "");
    say(byId("left"), "");
    const found = Object.assign(document.createElement("a"), { textContent: "See the result", href: this.section.dataset.events.replace(/events$/, "") });
    link.replaceChildren("The run has ended. ", found);
  }
}

/** The current ranking of a scenario's cases. */
class Standing {
  constructor(list) {
    this.list = list;
    this.key = list.dataset.key;
    this.isLessBetter = list.dataset.less === "yes";
    this.places = new Map();
    for (const item of list.children) this.places.set(item.dataset.case, { item, values: new Map(JSON.parse(item.dataset.values)) });
    this.isNew = false;
  }

  /** Stores null for a trial that does not count. */
  add(told, counts) {
    const place = this.places.get(told.case);
    if (!place) return;
    place.values.set(told.trial, counts && told[this.key] > 0 ? told[this.key] : null);
    this.isNew = true;
  }

  draw() {
    if (!this.isNew) return;
    this.isNew = false;
    const places = [...this.places.values()].map(({ item, values }) => {
      const logs = [...values.values()].filter((value) => value != null).map(Math.log);
      const mean = logs.length > 0 ? Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) : null;
      return { item, mean, reach: mean == null ? 0 : this.isLessBetter ? 1 / mean : mean, rounds: logs.length };
    });
    const best = Math.max(...places.map((place) => place.reach));
    for (const { item, mean, reach, rounds } of places) {
      item.querySelector("rect").setAttribute("width", best > 0 ? ((reach / best) * 100).toFixed(1) : 0);
      say(item.querySelector(".value"), this.isLessBetter ? seconds(mean) : number(mean));
      say(item.querySelector(".ratio"), mean == null ? "" : `${digits(reach / best)}×`);
      say(item.querySelector(".rounds"), `${rounds} of ${item.dataset.planned} rounds`);
    }
    places.sort((one, other) => other.reach - one.reach);
    if (places.some(({ item }, place) => this.list.children[place] !== item)) this.list.append(...places.map(({ item }) => item));
  }
}

/** A case in a table, with its trials. */
class Row {
  constructor(element) {
    this.element = element;
    this.name = element.dataset.case;
    this.colour = element.dataset.class;
    this.title = element.querySelector(".title").textContent;
    this.planned = Number(element.dataset.planned);
    // A page that was opened late gets events of trials that it already has, so trials are keyed by number.
    this.trials = new Map(JSON.parse(element.dataset.trials).map(([trial, goodput, p99]) => [trial, { goodput, p99 }]));
    this.known = new Set(this.trials.keys());
    this.failed = new Set();
    this.failedBefore = Number(element.dataset.failed);
    this.isNew = false;
    this.drawnFor = null;
  }

  add(trial, goodput, p99, isFailed) {
    this.trials.set(trial, { goodput, p99 });
    if (isFailed && !this.known.has(trial)) this.failed.add(trial);
    this.isNew = true;
    this.drawnFor = null;
  }

  goodputs() {
    return [...this.trials.values()].map((trial) => trial.goodput).filter((goodput) => goodput != null);
  }

  mark(isCurrent) {
    this.element.classList.toggle("current", isCurrent);
  }

  draw(most) {
    const dots = this.element.querySelector("td.dots");
    const width = dots?.clientWidth ?? 0;
    if (this.drawnFor === `${most} ${width}`) return;
    this.drawnFor = `${most} ${width}`;
    const failed = this.failedBefore + this.failed.size;
    say(this.element.querySelector(".done"), `${this.trials.size} of ${this.planned}`);
    say(this.element.querySelector(".failed"), failed > 0 ? `${failed} failed` : "");
    if (!dots) return;
    const middle = median(this.goodputs());
    const p99s = [...this.trials.values()].map((trial) => trial.p99).filter((p99) => p99 != null);
    // The server's analysis already filled in the initial figures, except those of the second half of an A/A pair.
    const cell = this.element.querySelector(".median");
    if (this.isNew || cell.textContent === NONE) {
      say(cell, number(middle));
      say(this.element.querySelector(".p99"), seconds(median(p99s)));
    }
    if (width < 30) return;
    const at = (value) => 5 + (most > 0 ? (value / most) * (width - 30) : 0);
    const svg = drawn("svg", { viewBox: `0 0 ${width - 20} 20`, "aria-hidden": "true" });
    svg.append(drawn("path", { class: "grid-line", d: `M5 10H${width - 25}` }));
    for (const goodput of this.goodputs()) svg.append(drawn("circle", { class: `${this.colour} fill`, cx: at(goodput).toFixed(1), cy: 10, r: 3.6 }));
    if (middle != null) svg.append(drawn("path", { class: "middle", d: `M${at(middle).toFixed(1)} 2v16` }));
    dots.replaceChildren(svg);
  }
}

/** Draws a trial second by second: throughput and response times, each in a panel that fills the available width. */
function drawSeconds(trial, colour, title) {
  const figure = byId("seconds");
  figure.hidden = false;
  say(byId("seconds-title"), `Second by second: trial ${trial.trial}, ${title}`);
  const panels = figure.querySelector(".panels");
  const gap = 22;
  const isWide = getComputedStyle(panels).gridTemplateColumns.split(" ").length > 1;
  const width = isWide ? (panels.clientWidth - gap) / 2 : panels.clientWidth;
  if (width < 100 || trial.seconds.length === 0) return;
  const points = trial.seconds.map((second) => ({
    x: second.start_s + second.duration_s / 2,
    rate: second.good == null ? null : second.good / second.duration_s,
    failed: second.failed > 0,
    p50: second.p50_s,
    p99: second.p99_s,
  }));
  const from = Math.min(...trial.seconds.map((second) => second.start_s));
  const to = Math.max(...trial.seconds.map((second) => second.start_s + second.duration_s), from + 4);
  const last = points.at(-1);
  const line = (key) => points.filter((point) => point[key] != null).map((point) => [point.x, point[key]]);
  const rates = { name: "", way: "", values: line("rate"), hasDots: true };
  const crosses = points.filter((point) => point.failed).map((point) => [point.x, point.rate ?? 0]);
  const times = [
    { name: "p50", way: "", values: line("p50"), hasDots: false },
    { name: "p99", way: " way-1", values: line("p99"), hasDots: false },
  ];
  panels.replaceChildren(
    panel({ width, from, to, colour, heading: "correct responses/s", write: number, lines: [rates], crosses, says: `in the last second ${number(last.rate)}` }),
    panel({ width, from, to, colour, heading: "response times", write: seconds, lines: times, crosses: [], says: `in the last second p50 ${seconds(last.p50)}, p99 ${seconds(last.p99)}` }),
  );
}

/** The next round number: 1, 2, 2.5, 5 or 10 times a power of ten. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value * 0.9999);
}

function panel({ width, from, to, colour, heading, write, lines, crosses, says }) {
  const [left, right, top, bottom, height] = [52, width - 34, 26, 164, 186];
  const highest = Math.max(0, ...lines.flatMap((line) => line.values.map(([, y]) => y)));
  const most = highest > 0 ? roundUp(highest) : 1;
  const x = (value) => left + ((right - left) * (value - from)) / (to - from);
  const y = (value) => bottom - ((bottom - top) * value) / most;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${heading}, ${says}` });
  const text = (kind, anchor, at, words) => svg.append(drawn("text", { class: kind, "text-anchor": anchor, x: at[0].toFixed(1), y: at[1].toFixed(1) }, words));
  if (from < 0) svg.append(drawn("rect", { class: "warming", x: left, y: top, width: (x(Math.min(0, to)) - left).toFixed(1), height: bottom - top }));
  text("h", "start", [0, 14], heading);
  for (const share of [0, 0.5, 1]) {
    const at = y(most * share);
    svg.append(drawn("path", { class: share === 0 ? "axis" : "grid-line", d: `M${left} ${at.toFixed(1)}H${right.toFixed(1)}` }));
    text("m", "end", [left - 6, at + 4], share === 0 ? "0" : write(most * share));
  }
  const step = Math.max(1, roundUp((to - from) / Math.max(2, Math.floor((right - left) / 60))));
  for (let at = Math.ceil(from / step) * step; at <= to + 1e-9; at += step) text("m", "middle", [x(at), bottom + 16], `${Math.round(at)} s`.replace("-", "−"));
  const ends = [];
  for (const line of lines) {
    if (line.values.length === 0) continue;
    const path = line.values.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    svg.append(drawn("path", { class: `${colour} line${line.way}`, d: `M${path}` }));
    if (line.hasDots) for (const [at, value] of line.values) svg.append(drawn("circle", { class: `${colour} fill`, cx: x(at).toFixed(1), cy: y(value).toFixed(1), r: 2.6 }));
    const [at, value] = line.values.at(-1);
    if (line.name) ends.push({ name: line.name, x: x(at) + 6, y: y(value) + 4 });
  }
  // Keep the two names from overlapping.
  if (ends.length === 2 && Math.abs(ends[0].y - ends[1].y) < 13) {
    const middle = (ends[0].y + ends[1].y) / 2;
    [ends[0].y, ends[1].y] = [Math.min(middle + 6.5, bottom), Math.min(middle + 6.5, bottom) - 13];
  }
  for (const end of ends) text("v", "start", [end.x, end.y], end.name);
  for (const [at, value] of crosses) svg.append(drawn("path", { class: "cross", transform: `translate(${x(at).toFixed(1)} ${y(value).toFixed(1)})`, d: "M-4 -4l8 8M4 -4l-8 8" }));
  return svg;
}

// Commands with a button to copy them. Without scripts or clipboard access, there is no button.

function offer(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    say(button, "Copied");
    setTimeout(() => say(button, "Copy"), 2000);
  });
}

if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach(offer);

const form = byId("choose");
if (form) listen(form);

const section = byId("at-work");
if (section) {
  const follower = new Follower(section);
  if (section.dataset.events) follower.follow(section.dataset.events);
}
