import { app, serveData } from "./app.js";
import { asks } from "./database.js";

serveData(asks);
const { HOST, PORT } = process.env;
export default { fetch: app.fetch, hostname: HOST, port: Number(PORT), idleTimeout: 120 };
