import { Elysia } from "elysia";
import { asks, deleteRow, fortunes, readRow, update, writeRow } from "./database.js";
import { page } from "./fortunes.jsx";
import { items } from "./items.js";
import { said } from "./upstream.js";

const { HOST, PORT, UPSTREAM } = process.env;
const app = new Elysia({ serve: { idleTimeout: 120 } });

app.get("/hello", ({ set }) => {
  set.headers["content-type"] = "text/html; charset=utf-8";
  return "<h1>Hello, World!</h1>";
});
app.get("/json", () => ({ message: "Hello, World!" }));

const send = (ask) => async ({ query, status }) => (await ask(query)) ?? status(400);

app.get("/items", send(items));
app.get("/upstream", send((query) => said(UPSTREAM, query)));
app.post("/upload", ({ body }) => {
  const sent = body ?? "";
  return { bytes: sent.byteLength ?? 0, sha256: new Bun.CryptoHasher("sha256").update(sent).digest("hex") };
}, { parse: "arrayBuffer" });

for (const [path, ask] of Object.entries(asks)) app.get(path, send(ask));
app.post("/updates", send(update));
app.get("/crud", async ({ query, status }) => {
  const row = await readRow(query);
  return row ?? status(row === null ? 404 : 400);
});
app.put("/crud", async ({ query, body, status }) => (await writeRow(query, body)) ?? status(400));
app.delete("/crud", async ({ query, status }) => ((await deleteRow(query)) ? status(204) : status(400)));
app.get("/fortunes", async ({ query, status, set }) => {
  const rows = await fortunes(query);
  if (rows === undefined) return status(400);
  set.headers["content-type"] = "text/html; charset=utf-8";
  return page(rows);
});

app.listen({ hostname: HOST, port: Number(PORT) });
