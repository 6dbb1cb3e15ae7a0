// The workloads without a database. Every JavaScript framework has this file.
const names = ["anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"];

function item(x) {
  const priceCents = 1 + (x % 10_000);
  const quantity = 1 + (x % 9);
  return {
    id: x,
    name: names[x % 8],
    price_cents: priceCents,
    quantity,
    in_stock: x % 3 === 0,
    rating: { stars: 1 + (x % 5), votes: x % 1_000 },
    total_cents: priceCents * quantity,
  };
}

// A whole number from 1 to `largest`, or NaN.
export function whole(text, largest) {
  return /^\d+$/.test(text) && text >= 1 && text <= largest ? Number(text) : NaN;
}

// `n` numbers derived from a seed, or undefined if the parameters are invalid.
export function drawn({ n, seed }, most) {
  const count = whole(n, most);
  let x = whole(seed, 2_147_483_646);
  if (!count || !x) return;
  return Array.from({ length: count }, () => (x = (x * 16_807) % 2_147_483_647));
}

export const items = (parameters) => drawn(parameters, 1_000)?.map(item);
