// Requests the upstream service's word for a key. Every JavaScript framework has this file.
import { whole } from "./items.js";

// `fetch` reuses connections.
export async function said(upstream, { key }) {
  const number = whole(key, 2_147_483_646);
  if (!number) return;
  const response = await fetch(`http://${upstream}/word?key=${number}`);
  const { word } = await response.json();
  return { key: number, said: word };
}
