import { app, serveData } from "./app.js";
import * as database from "./database.js";

serveData(database);
const { HOST, PORT } = process.env;
Deno.serve({ hostname: HOST, port: Number(PORT), onListen() {} }, app.fetch);
