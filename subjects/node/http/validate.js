// The workload validate: checks the order in the request by declared rules.
"use strict";

const text = (least, most) => (value) => typeof value === "string" && least <= value.length && value.length <= most;
const like = (pattern) => (value) => typeof value === "string" && pattern.test(value);
const whole = (least, most) => (value) => Number.isInteger(value) && least <= value && value <= most;
const list = (least, most, isGood) => (value) =>
  Array.isArray(value) && least <= value.length && value.length <= most && (isGood === undefined || value.every(isGood));
const orNull = (isGood) => (value) => value === null || value === undefined || isGood(value);
const both = (first, second) => (value) => first(value) && second(value);

const order = Object.entries({
  order: like(/^A-[0-9]{6}$/),
  created: like(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/),
});
const customer = Object.entries({
  name: text(1, 80),
  email: both(text(3, 120), like(/^[^@]+@.+$/s)),
  country: like(/^[A-Z]{2}$/),
});
const line = Object.entries({
  sku: like(/^[A-Z]{3}-[0-9]{4}$/),
  title: text(1, 120),
  quantity: whole(1, 1_000),
  price_cents: whole(0, 100_000_000),
  tags: list(0, 8, text(1, 20)),
  note: orNull(text(0, 200)),
});

// The first field that breaks a rule.
function broken(rules, value) {
  for (const [name, isGood] of rules) {
    if (!isGood(value?.[name])) return name;
  }
}

const isLines = list(1, 500);

// The answer to an order: `at` is the first field that breaks a rule.
function verdict(sent) {
  const refused = (at) => ({ valid: false, at });
  let at = broken(order, sent);
  if (at !== undefined) return refused(at);
  at = broken(customer, sent.customer);
  if (at !== undefined) return refused(`customer.${at}`);
  if (!isLines(sent.lines)) return refused("lines");
  let totalCents = 0;
  for (const [index, one] of sent.lines.entries()) {
    at = broken(line, one);
    if (at !== undefined) return refused(`lines[${index}].${at}`);
    totalCents += one.quantity * one.price_cents;
  }
  if (sent.total_cents !== totalCents) return refused("total_cents");
  return { valid: true, lines: sent.lines.length, total_cents: totalCents };
}

module.exports = { verdict };
