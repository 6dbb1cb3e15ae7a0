// The workload upstream: requests the upstream service's word for a key.
import { whole } from "./items.js";

const service = `http://${process.env.UPSTREAM}/word?key=`;

// Returns undefined if the query is invalid. `fetch` reuses connections.
export async function said(query) {
  const key = whole(query.get("key"), 2_147_483_646);
  if (key === undefined) return undefined;
  const { word } = await (await fetch(service + key)).json();
  return { key, said: word };
}
