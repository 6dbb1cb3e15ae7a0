// The application. Hono on every runtime has this file.
import { Hono } from "hono";

export const app = new Hono();

app.get("/hello", (c) => c.html("<h1>Hello, World!</h1>"));
app.get("/json", (c) => c.json({ message: "Hello, World!" }));

// Adds what asks a database, where there is a driver for one.
export function serveData(asks) {
  for (const [path, ask] of Object.entries(asks)) {
    app.get(path, async (c) => {
      const found = await ask(c.req.query());
      return found === undefined ? c.text("no such parameters", 400) : c.json(found);
    });
  }
}
