// The workload upstream: requests the upstream service's word for a key.
"use strict";

const http = require("node:http");
const { whole } = require("./items.js");

const service = `http://${process.env.UPSTREAM}/word?key=`;
const agent = new http.Agent({ keepAlive: true });

// Calls back with an error or the answer to a query, which is undefined if the query is invalid.
function ask(query, done) {
  const key = whole(query.get("key"), 2_147_483_646);
  if (key === undefined) return done(null, undefined);
  http
    .get(service + key, { agent }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", done);
      response.on("end", () => done(null, { key, said: JSON.parse(Buffer.concat(chunks).toString()).word }));
    })
    .on("error", done);
}

module.exports = { ask };
