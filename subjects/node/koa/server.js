import Router from "@koa/router";
import Koa from "koa";
import { asks } from "./database.js";

const { HOST, PORT } = process.env;
const app = new Koa();
const router = new Router();

router.get("/hello", (ctx) => {
  ctx.body = "<h1>Hello, World!</h1>";
});
router.get("/json", (ctx) => {
  ctx.body = { message: "Hello, World!" };
});

for (const [path, ask] of Object.entries(asks)) {
  router.get(path, async (ctx) => {
    const found = await ask(ctx.query);
    if (found === undefined) ctx.status = 400;
    else ctx.body = found;
  });
}

app.use(router.routes()).use(router.allowedMethods());
const server = app.listen(Number(PORT), HOST);
server.keepAliveTimeout = 120_000;
