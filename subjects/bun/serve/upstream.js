// The workload upstream: what the service beside the server says of a key.
import { whole } from "./items.js";

const service = `http://${process.env.UPSTREAM}/word?key=`;

// Nothing where the query makes no sense. `fetch` keeps connections by itself.
export async function said(query) {
  const key = whole(query.get("key"), 2_147_483_646);
  if (key === undefined) return undefined;
  const { word } = await (await fetch(service + key)).json();
  return { key, said: word };
}
