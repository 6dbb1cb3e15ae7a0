// The page of the workload react-ssr, without JSX: every runtime can load it directly. Every subject with React has this file.
import { createElement as h } from "react";
import { renderToString } from "react-dom/server";

const Stars = ({ stars, votes }) =>
  h("span", { className: "stars", title: `${stars} of 5` }, "★".repeat(stars), " ", h("small", null, votes, " votes"));

const Price = ({ cents }) => h("data", { value: cents }, (cents / 100).toFixed(2), " €");

const Item = ({ item }) =>
  h(
    "li",
    { className: item.in_stock ? "item" : "item gone" },
    h("h2", null, item.name, " #", item.id),
    h(Stars, item.rating),
    h("p", null, item.quantity, " × ", h(Price, { cents: item.price_cents }), " = ", h(Price, { cents: item.total_cents })),
    h("button", { type: "button", disabled: !item.in_stock }, "Buy"),
  );

const Page = ({ items }) =>
  h("main", null, h("h1", null, items.length, " items"), h("ul", null, items.map((item) => h(Item, { key: item.id, item }))));

export const page = (items) =>
  '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Items</title></head><body><div id="root">' +
  renderToString(h(Page, { items })) + "</div></body></html>";
