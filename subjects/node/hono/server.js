import { serve } from "@hono/node-server";
import { app, serveData } from "./app.js";
import * as database from "./database.js";

serveData(database);
const { HOST, PORT } = process.env;
const server = serve({ fetch: app.fetch, hostname: HOST, port: Number(PORT) });
server.keepAliveTimeout = 120_000;
