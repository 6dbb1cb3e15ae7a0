import Fastify from "fastify";
import { asks } from "./database.js";

const { HOST, PORT, SCHEMA } = process.env;
const fastify = Fastify({ keepAliveTimeout: 120_000 });

const message = { type: "object", properties: { message: { type: "string" } } };
const json = SCHEMA === "on" ? { schema: { response: { 200: message } } } : {};

fastify.get("/hello", async (request, reply) => {
  reply.type("text/html; charset=utf-8");
  return "<h1>Hello, World!</h1>";
});
fastify.get("/json", json, async () => ({ message: "Hello, World!" }));

for (const [path, ask] of Object.entries(asks)) {
  fastify.get(path, async (request, reply) => {
    const found = await ask(request.query);
    if (found === undefined) return reply.code(400).send();
    return found;
  });
}

await fastify.listen({ host: HOST, port: Number(PORT) });
