// The page of the workload fortunes.
const row = ({ id, message }) => `<tr><td>${id}</td><td>${Bun.escapeHTML(message)}</td></tr>`;

// Compares UTF-16 code units, which gives code-point order for these texts.
export function page(fortunes) {
  fortunes.sort((a, b) => (a.message < b.message ? -1 : 1));
  return (
    "<!DOCTYPE html><html><head><title>Fortunes</title></head>" +
    `<body><table><tr><th>id</th><th>message</th></tr>${fortunes.map(row).join("")}</table></body></html>`
  );
}
