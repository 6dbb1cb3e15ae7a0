// React on node:http, without a framework.
import { createServer } from "node:http";
import { items } from "./items.js";
import { page } from "./page.js";

const { HOST, PORT } = process.env;

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url, "http://localhost");
  if (pathname !== "/react-ssr") return res.writeHead(404).end("not found");
  if (req.method !== "GET" && req.method !== "HEAD") return res.writeHead(405, { Allow: "GET, HEAD" }).end();
  const shown = items(Object.fromEntries(searchParams));
  if (shown === undefined) return res.writeHead(400).end("n is 1 to 1000, seed 1 to 2147483646");
  const body = page(shown);
  res.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
});
server.keepAliveTimeout = 120_000;
server.listen(Number(PORT), HOST);
