// The workload items: objects derived from two numbers in the query.
"use strict";

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

// A whole number from 1 to `largest`, or undefined.
function whole(text, largest) {
  const value = Number(text);
  return /^\d+$/.test(text ?? "") && 1 <= value && value <= largest ? value : undefined;
}

// Returns undefined if the query is invalid.
function items(query) {
  const count = whole(query.get("n"), 1_000);
  let x = whole(query.get("seed"), 2_147_483_646);
  if (count === undefined || x === undefined) return undefined;
  return Array.from({ length: count }, () => {
    x = (x * 16_807) % 2_147_483_647;
    return item(x);
  });
}

module.exports = { items, whole };
