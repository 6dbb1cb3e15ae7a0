import { app, serveData } from "./app.js";
import * as database from "./database.js";

serveData(database);
const { HOST, PORT } = process.env;
export default { fetch: app.fetch, hostname: HOST, port: Number(PORT), idleTimeout: 120 };
