// The page of the workload fortunes.
const row = ({ id, message }) => `<tr><td>${id}</td><td>${Bun.escapeHTML(message)}</td></tr>`;

// Sorts by code units, which for these texts is the order of code points.
export function page(fortunes) {
  fortunes.sort((a, b) => (a.message < b.message ? -1 : 1));
  return (
    "<!DOCTYPE html><html><head><title>Fortunes</title></head>" +
    `<body><table><tr><th>id</th><th>message</th></tr>${fortunes.map(row).join("")}</table></body></html>`
  );
}
