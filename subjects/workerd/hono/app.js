// The application, the same file for Hono on every runtime.
import { Hono } from "hono";
import { env } from "hono/adapter";
import { compress } from "hono/compress";
import { html } from "hono/html";
import { sha256 } from "hono/utils/crypto";
import { items } from "./items.js";
import { page as reactPage } from "./page.js";
import { said } from "./upstream.js";

export const app = new Hono();

app.get("/hello", (c) => c.html("<h1>Hello, World!</h1>"));
app.get("/json", (c) => c.json({ message: "Hello, World!" }));
app.get("/items", (c) => found(c, items(c.req.query())));
app.get("/upstream", async (c) => found(c, await said(env(c).UPSTREAM, c.req.query())));
app.get("/compressed", compress(), (c) => found(c, items(c.req.query())));
app.get("/react-ssr", (c) => {
  const shown = items(c.req.query());
  return shown === undefined ? c.text("no such parameters", 400) : c.html(reactPage(shown));
});
app.post("/upload", async (c) => {
  const sent = await c.req.arrayBuffer();
  return c.json({ bytes: sent.byteLength, sha256: await sha256(sent) });
});

const found = (c, value) => (value === undefined ? c.text("no such parameters", 400) : c.json(value));

// Adds the routes that use a database, on runtimes with a driver.
export function serveData({ asks, fortunes, update, readRow, writeRow, deleteRow }) {
  for (const [path, ask] of Object.entries(asks)) {
    app.get(path, async (c) => found(c, await ask(c.req.query())));
  }
  app.post("/updates", async (c) => found(c, await update(c.req.query())));
  app.get("/crud", async (c) => {
    const row = await readRow(c.req.query());
    return row === null ? c.notFound() : found(c, row);
  });
  app.put("/crud", async (c) => {
    const sent = await c.req.json().catch(() => undefined);
    return found(c, await writeRow(c.req.query(), sent));
  });
  app.delete("/crud", async (c) => {
    const isDone = await deleteRow(c.req.query());
    return isDone ? c.body(null, 204) : c.text("no such parameters", 400);
  });
  app.get("/fortunes", async (c) => {
    const rows = await fortunes(c.req.query());
    return rows === undefined ? c.text("no such text", 400) : c.html(page(rows));
  });
}

const row = ({ id, message }) => html`<tr><td>${id}</td><td>${message}</td></tr>`;
const page = (rows) =>
  html`<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>${rows.map(row)}</table></body></html>`;
