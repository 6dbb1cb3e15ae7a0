// What the service beside the server says of a key. Every framework in JavaScript has this file.
import { whole } from "./items.js";

// `fetch` keeps connections by itself.
export async function said(upstream, { key }) {
  const number = whole(key, 2_147_483_646);
  if (!number) return;
  const response = await fetch(`http://${upstream}/word?key=${number}`);
  const { word } = await response.json();
  return { key: number, said: word };
}
