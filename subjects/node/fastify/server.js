import { createHash } from "node:crypto";
import { join } from "node:path";
import compress from "@fastify/compress";
import view from "@fastify/view";
import ejs from "ejs";
import Fastify from "fastify";
import { asks, deleteRow, fortunes, readRow, update, writeRow } from "./database.js";
import { items } from "./items.js";
import { said } from "./upstream.js";

const { HOST, PORT, SCHEMA, UPSTREAM } = process.env;
const fastify = Fastify({ keepAliveTimeout: 120_000 });

await fastify.register(compress, { global: false });
await fastify.register(view, { engine: { ejs }, root: join(import.meta.dirname, "views") });
fastify.addContentTypeParser("application/octet-stream", { parseAs: "buffer" }, async (request, body) => body);

const message = { type: "object", properties: { message: { type: "string" } } };
const json = SCHEMA === "on" ? { schema: { response: { 200: message } } } : {};

fastify.get("/hello", async (request, reply) => {
  reply.type("text/html; charset=utf-8");
  return "<h1>Hello, World!</h1>";
});
fastify.get("/json", json, async () => ({ message: "Hello, World!" }));

const send = (ask) => async (request, reply) => {
  const found = await ask(request.query);
  if (found === undefined) return reply.code(400).send();
  return found;
};

fastify.get("/items", send(items));
fastify.get("/upstream", send((query) => said(UPSTREAM, query)));
fastify.get("/compressed", { compress: {} }, send(items));
fastify.post("/upload", async ({ body = "" }) => ({
  bytes: body.length,
  sha256: createHash("sha256").update(body).digest("hex"),
}));

for (const [path, ask] of Object.entries(asks)) fastify.get(path, send(ask));
fastify.post("/updates", send(update));
fastify.get("/crud", async (request, reply) => {
  const row = await readRow(request.query);
  return row ?? reply.code(row === null ? 404 : 400).send();
});
fastify.put("/crud", async (request, reply) => {
  const row = await writeRow(request.query, request.body);
  return row ?? reply.code(400).send();
});
fastify.delete("/crud", async (request, reply) => {
  const isDone = await deleteRow(request.query);
  return reply.code(isDone ? 204 : 400).send();
});
fastify.get("/fortunes", async (request, reply) => {
  const rows = await fortunes(request.query);
  if (rows === undefined) return reply.code(400).send();
  return reply.viewAsync("fortunes.ejs", { rows });
});

await fastify.listen({ host: HOST, port: Number(PORT) });
