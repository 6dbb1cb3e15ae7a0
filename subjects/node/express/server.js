import express from "express";
import { asks } from "./database.js";

const { HOST, PORT, ETAG } = process.env;
const app = express();
if (ETAG === "off") app.disable("etag");

app.get("/hello", (req, res) => {
  res.send("<h1>Hello, World!</h1>");
});
app.get("/json", (req, res) => {
  res.json({ message: "Hello, World!" });
});

for (const [path, ask] of Object.entries(asks)) {
  app.get(path, async (req, res) => {
    const found = await ask(req.query);
    if (found === undefined) res.sendStatus(400);
    else res.json(found);
  });
}

const server = app.listen(Number(PORT), HOST);
server.keepAliveTimeout = 120_000;
