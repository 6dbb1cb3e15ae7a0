import { createHash } from "node:crypto";
import compression from "compression";
import express from "express";
import { asks, deleteRow, fortunes, readRow, update, writeRow } from "./database.js";
import { items } from "./items.js";
import { said } from "./upstream.js";

const { HOST, PORT, ETAG, UPSTREAM } = process.env;
const app = express();
if (ETAG === "off") app.disable("etag");
app.set("view engine", "ejs");

app.get("/hello", (req, res) => {
  res.send("<h1>Hello, World!</h1>");
});
app.get("/json", (req, res) => {
  res.json({ message: "Hello, World!" });
});

const send = (ask) => async (req, res) => {
  const found = await ask(req.query);
  if (found === undefined) res.sendStatus(400);
  else res.json(found);
};

app.get("/items", send(items));
app.get("/upstream", send((query) => said(UPSTREAM, query)));
app.get("/compressed", compression(), send(items));
app.post("/upload", express.raw({ limit: "1mb" }), (req, res) => {
  const sent = req.body ?? "";
  res.json({ bytes: sent.length, sha256: createHash("sha256").update(sent).digest("hex") });
});

for (const [path, ask] of Object.entries(asks)) app.get(path, send(ask));
app.post("/updates", send(update));
app.get("/crud", async (req, res) => {
  const row = await readRow(req.query);
  if (!row) res.sendStatus(row === null ? 404 : 400);
  else res.json(row);
});
app.put("/crud", express.json(), async (req, res) => {
  const row = await writeRow(req.query, req.body);
  if (row === undefined) res.sendStatus(400);
  else res.json(row);
});
app.delete("/crud", async (req, res) => {
  const isDone = await deleteRow(req.query);
  res.sendStatus(isDone ? 204 : 400);
});
app.get("/fortunes", async (req, res) => {
  const rows = await fortunes(req.query);
  if (rows === undefined) res.sendStatus(400);
  else res.render("fortunes", { rows });
});

const server = app.listen(Number(PORT), HOST);
server.keepAliveTimeout = 120_000;
