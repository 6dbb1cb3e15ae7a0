// The page of the workload fortunes.
"use strict";

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replace(/[&<>"']/g, (character) => escapes[character]);

const row = ({ id, message }) => `<tr><td>${id}</td><td>${escape(message)}</td></tr>`;

// Compares UTF-16 code units, which gives code-point order for these texts.
function page(fortunes) {
  fortunes.sort((a, b) => (a.message < b.message ? -1 : 1));
  return (
    "<!DOCTYPE html><html><head><title>Fortunes</title></head>" +
    `<body><table><tr><th>id</th><th>message</th></tr>${fortunes.map(row).join("")}</table></body></html>`
  );
}

module.exports = { page };
