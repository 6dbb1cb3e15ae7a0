import { app, serveData } from "./app.js";
import { asks } from "./database.js";

serveData(asks);
const { HOST, PORT } = process.env;
Deno.serve({ hostname: HOST, port: Number(PORT), onListen() {} }, app.fetch);
