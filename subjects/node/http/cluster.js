// Starts several server.js processes with node:cluster; this process accepts connections and distributes them.
"use strict";

const cluster = require("node:cluster");
const path = require("node:path");

cluster.setupPrimary({ exec: path.join(__dirname, "server.js") });
for (let i = 0; i < Number(process.env.WORKERS); i++) cluster.fork();

// A worker that ends takes the others with it. Otherwise the remaining workers would be measured as if all were there. Workers also
// end when this process does, because their channel to it closes.
cluster.on("exit", () => process.exit(1));
