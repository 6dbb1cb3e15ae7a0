import { Elysia } from "elysia";
import { asks } from "./database.js";

const { HOST, PORT } = process.env;
const app = new Elysia({ serve: { idleTimeout: 120 } });

app.get("/hello", ({ set }) => {
  set.headers["content-type"] = "text/html; charset=utf-8";
  return "<h1>Hello, World!</h1>";
});
app.get("/json", () => ({ message: "Hello, World!" }));

for (const [path, ask] of Object.entries(asks)) {
  app.get(path, async ({ query, status }) => (await ask(query)) ?? status(400));
}

app.listen({ hostname: HOST, port: Number(PORT) });
