// A plain node:http server for the workloads of the benchmark.
"use strict";

const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { pipeline } = require("node:stream");
const { gzip } = require("node:zlib");
const data = require("./data.js");
const { items } = require("./items.js");
const { numbers, quickSort } = require("./quicksort.js");
const upstream = require("./upstream.js");
const { verdict } = require("./validate.js");

const { HOST = "127.0.0.1", PORT, HTTP = "http1", TLS_CERTIFICATE, TLS_KEY, ASSETS, FILE } = process.env;

const picture = path.join(ASSETS, "file-534k.png");

const routes = {
  "/hello": (res) => send(res, "text/html; charset=utf-8", "<h1>Hello, World!</h1>"),
  "/json": (res) => send(res, "application/json", JSON.stringify({ message: "Hello, World!" })),
  "/quicksort": (res) => send(res, "application/json", JSON.stringify(quickSort(numbers))),
  "/file-534k.png": FILE === "readfile" ? readPicture : (res) => stream(res, picture, "image/png"),
  "/validate": validate,
  "/items": sendItems,
  "/compressed": sendCompressed,
  "/upload": upload,
  "/upstream": sendSaid,
  ...data,
};

function send(res, type, body, status = 200) {
  res.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}

function validate(res, req) {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    let sent;
    try {
      sent = JSON.parse(Buffer.concat(chunks).toString());
    } catch {
      return send(res, "text/plain", "no JSON", 400);
    }
    const answer = verdict(sent);
    send(res, "application/json", JSON.stringify(answer), answer.valid ? 200 : 422);
  });
}

function sendItems(res, req) {
  const [, search] = req.url.split("?", 2);
  const found = items(new URLSearchParams(search));
  if (found === undefined) return send(res, "text/plain", "n is 1 to 1000, seed 1 to 2147483646", 400);
  send(res, "application/json", JSON.stringify(found));
}

function sendCompressed(res, req) {
  const [, search] = req.url.split("?", 2);
  const found = items(new URLSearchParams(search));
  if (found === undefined) return send(res, "text/plain", "n is 1 to 1000, seed 1 to 2147483646", 400);
  const body = JSON.stringify(found);
  if (!/\bgzip\b/.test(req.headers["accept-encoding"])) return send(res, "application/json", body);
  // Runs in a thread of libuv's pool, so other requests continue.
  gzip(body, (error, packed) => {
    if (error) return fail(res, error);
    const length = packed.length;
    res.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip", "Content-Length": length });
    res.end(packed);
  });
}

function upload(res, req) {
  const hash = createHash("sha256");
  let bytes = 0;
  req.on("data", (chunk) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  req.on("end", () => send(res, "application/json", JSON.stringify({ bytes, sha256: hash.digest("hex") })));
}

function sendSaid(res, req) {
  const [, search] = req.url.split("?", 2);
  upstream.ask(new URLSearchParams(search), (error, said) => {
    if (error) return fail(res, error);
    if (said === undefined) return send(res, "text/plain", "key is 1 to 2147483646", 400);
    send(res, "application/json", JSON.stringify(said));
  });
}

// A handler that sends a file of the folder static, if the path names one.
function staticFile(pathname) {
  if (!/^\/static\/[0-9a-z]+\.bin$/.test(pathname)) return undefined;
  return (res) => stream(res, path.join(ASSETS, pathname), "application/octet-stream");
}

function stream(res, file, type) {
  fs.stat(file, (error, stats) => {
    if (error) return fail(res, error);
    res.writeHead(200, { "Content-Type": type, "Content-Length": stats.size });
    pipeline(fs.createReadStream(file), res, (error) => {
      // A client that hangs up in the middle of the file is not a server error.
      if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") console.error(error);
    });
  });
}

function readPicture(res) {
  fs.readFile(picture, (error, data) => {
    if (error) return fail(res, error);
    send(res, "image/png", data);
  });
}

function fail(res, error) {
  if (error.code === "ENOENT") return res.writeHead(404).end("not found");
  console.error(error);
  res.writeHead(500).end();
}

// One listener for all four protocols: node:http2 passes requests as node:http does.
function createServer(listener) {
  const tls = () => ({ cert: fs.readFileSync(TLS_CERTIFICATE), key: fs.readFileSync(TLS_KEY) });
  switch (HTTP) {
    case "https":
      return require("node:https").createServer(tls(), listener);
    case "h2":
      return require("node:http2").createSecureServer(tls(), listener);
    case "h2c":
      return require("node:http2").createServer(listener);
    default:
      return require("node:http").createServer(listener);
  }
}

const readOnly = ["GET", "HEAD"];
const methods = {
  "/counter": ["GET", "HEAD", "POST"],
  "/crud": ["GET", "HEAD", "PUT", "DELETE"],
  "/updates": ["POST"],
  "/validate": ["POST"],
  "/upload": ["POST"],
};

const server = createServer((req, res) => {
  const [pathname] = req.url.split("?", 1);
  const handler = Object.hasOwn(routes, pathname) ? routes[pathname] : staticFile(pathname);
  if (handler === undefined) {
    res.writeHead(404).end("not found");
  } else if (!(methods[pathname] ?? readOnly).includes(req.method)) {
    res.writeHead(405, { Allow: (methods[pathname] ?? readOnly).join(", ") }).end();
  } else {
    handler(res, req);
  }
});
server.keepAliveTimeout = 120_000;
server.listen(Number(PORT), HOST);
