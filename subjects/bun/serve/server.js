// One Bun.serve process for the workloads of the benchmark.
import { join } from "node:path";
import { routes as data } from "./data.js";
import { items } from "./items.js";
import { numbers, quickSort } from "./quicksort.js";
import { said } from "./upstream.js";
import { verdict } from "./validate.js";

const { HOST = "127.0.0.1", PORT, ASSETS, REUSE_PORT, TLS_CERTIFICATE, TLS_KEY } = process.env;

const picture = join(ASSETS, "file-534k.png");

const routes = {
  "/hello": () => new Response("<h1>Hello, World!</h1>", { headers: { "Content-Type": "text/html; charset=utf-8" } }),
  "/json": () => Response.json({ message: "Hello, World!" }),
  "/quicksort": () => Response.json(quickSort(numbers)),
  "/file-534k.png": () => new Response(Bun.file(picture)),
  "/validate": validate,
  "/items": sendItems,
  "/compressed": sendCompressed,
  "/upload": upload,
  "/upstream": sendSaid,
  ...data,
};

async function validate(request) {
  let sent;
  try {
    sent = await request.json();
  } catch {
    return new Response("no JSON", { status: 400 });
  }
  const answer = verdict(sent);
  return Response.json(answer, { status: answer.valid ? 200 : 422 });
}

function sendItems(request) {
  const found = items(new URL(request.url).searchParams);
  if (found === undefined) return new Response("n is 1 to 1000, seed 1 to 2147483646", { status: 400 });
  return Response.json(found);
}

function sendCompressed(request) {
  const found = items(new URL(request.url).searchParams);
  if (found === undefined) return new Response("n is 1 to 1000, seed 1 to 2147483646", { status: 400 });
  if (!/\bgzip\b/.test(request.headers.get("Accept-Encoding"))) return Response.json(found);
  const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
  return new Response(Bun.gzipSync(JSON.stringify(found)), { headers });
}

async function upload(request) {
  const sent = await request.arrayBuffer();
  return Response.json({ bytes: sent.byteLength, sha256: new Bun.CryptoHasher("sha256").update(sent).digest("hex") });
}

async function sendSaid(request) {
  const found = await said(new URL(request.url).searchParams);
  if (found === undefined) return new Response("key is 1 to 2147483646", { status: 400 });
  return Response.json(found);
}

const isStatic = (path) => /^\/static\/[0-9a-z]+\.bin$/.test(path);

async function staticFile(request) {
  const file = Bun.file(join(ASSETS, new URL(request.url).pathname));
  return (await file.exists()) ? new Response(file) : new Response("not found", { status: 404 });
}

const otherMethods = {
  "/counter": ["GET", "HEAD", "POST"],
  "/crud": ["GET", "HEAD", "PUT", "DELETE"],
  "/updates": ["POST"],
  "/validate": ["POST"],
  "/upload": ["POST"],
};
const methods = (path) => otherMethods[path] ?? ["GET", "HEAD"];

Bun.serve({
  hostname: HOST,
  port: Number(PORT),
  reusePort: REUSE_PORT === "1",
  idleTimeout: 120,
  tls: TLS_CERTIFICATE ? { cert: Bun.file(TLS_CERTIFICATE), key: Bun.file(TLS_KEY) } : undefined,
  development: false,
  routes: Object.fromEntries(
    Object.entries(routes).map(([path, handler]) => [
      path,
      Object.fromEntries(methods(path).map((method) => [method, handler])),
    ]),
  ),
  // Handles what no route matched: a file, a known path with another method, or an unknown path. Bun before 1.2.3 has no routes, so
  // it handles everything.
  fetch(request) {
    const { pathname } = new URL(request.url);
    const handler = isStatic(pathname) ? staticFile : routes[pathname];
    if (handler === undefined) return new Response("not found", { status: 404 });
    return methods(pathname).includes(request.method)
      ? handler(request)
      : new Response(null, { status: 405, headers: { Allow: methods(pathname).join(", ") } });
  },
});
