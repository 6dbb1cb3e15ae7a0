// React on Bun.serve, without a framework.
import { items } from "./items.js";
import { page } from "./page.js";

const { HOST, PORT } = process.env;

function send(request) {
  const shown = items(Object.fromEntries(new URL(request.url).searchParams));
  if (shown === undefined) return new Response("n is 1 to 1000, seed 1 to 2147483646", { status: 400 });
  return new Response(page(shown), { headers: { "Content-Type": "text/html; charset=utf-8" } });
}

Bun.serve({
  hostname: HOST,
  port: Number(PORT),
  idleTimeout: 120,
  routes: { "/react-ssr": { GET: send, HEAD: send } },
  fetch(request) {
    return new URL(request.url).pathname === "/react-ssr"
      ? new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } })
      : new Response("not found", { status: 404 });
  },
});
