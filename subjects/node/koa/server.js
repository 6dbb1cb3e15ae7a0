import { createHash } from "node:crypto";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import render from "@koa/ejs";
import Router from "@koa/router";
import Koa from "koa";
import compress from "koa-compress";
import { asks, deleteRow, fortunes, readRow, update, writeRow } from "./database.js";
import { items } from "./items.js";
import { said } from "./upstream.js";

const { HOST, PORT, UPSTREAM } = process.env;
const app = new Koa();
const router = new Router();
render(app, { root: join(import.meta.dirname, "views"), layout: false, viewExt: "ejs" });

router.get("/hello", (ctx) => {
  ctx.body = "<h1>Hello, World!</h1>";
});
router.get("/json", (ctx) => {
  ctx.body = { message: "Hello, World!" };
});

const send = (ask) => async (ctx) => {
  const found = await ask(ctx.query);
  if (found === undefined) ctx.status = 400;
  else ctx.body = found;
};

router.get("/items", send(items));
router.get("/upstream", send((query) => said(UPSTREAM, query)));
router.get("/compressed", compress(), send(items));
router.post("/upload", async (ctx) => {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of ctx.req) {
    hash.update(piece);
    bytes += piece.length;
  }
  ctx.body = { bytes, sha256: hash.digest("hex") };
});

for (const [path, ask] of Object.entries(asks)) router.get(path, send(ask));
router.post("/updates", send(update));
router.get("/crud", async (ctx) => {
  const row = await readRow(ctx.query);
  if (!row) ctx.status = row === null ? 404 : 400;
  else ctx.body = row;
});
router.put("/crud", async (ctx) => {
  const row = await writeRow(ctx.query, await json(ctx.req).catch(() => undefined));
  if (row === undefined) ctx.status = 400;
  else ctx.body = row;
});
router.delete("/crud", async (ctx) => {
  ctx.status = (await deleteRow(ctx.query)) ? 204 : 400;
});
router.get("/fortunes", async (ctx) => {
  const rows = await fortunes(ctx.query);
  if (rows === undefined) ctx.status = 400;
  else await ctx.render("fortunes", { rows });
});

app.use(router.routes()).use(router.allowedMethods());
const server = app.listen(Number(PORT), HOST);
server.keepAliveTimeout = 120_000;
