<?php

// The workload validate: checks the order in the request by declared rules.

declare(strict_types=1);

// Each rule tests one value.
const ORDER = ['order' => 'is_order_number', 'created' => 'is_instant'];
const CUSTOMER = ['name' => 'is_name', 'email' => 'is_address', 'country' => 'is_country'];
const LINE = [
    'sku' => 'is_sku',
    'title' => 'is_title',
    'quantity' => 'is_quantity',
    'price_cents' => 'is_price',
    'tags' => 'are_tags',
    'note' => 'is_note',
];

/** Status, type and body of the answer to a request. */
function answer_to_order(string $sent): array
{
    $order = json_decode($sent, true);
    if (json_last_error() !== JSON_ERROR_NONE) {
        return [400, 'text/plain', 'no JSON'];
    }
    $verdict = verdict($order);
    return [$verdict['valid'] ? 200 : 422, 'application/json', json_encode($verdict)];
}

function verdict(mixed $order): array
{
    $at = broken(ORDER, $order);
    if ($at === null && ($field = broken(CUSTOMER, $order['customer'] ?? null)) !== null) {
        $at = "customer.$field";
    }
    $lines = $at === null ? $order['lines'] ?? null : null;
    if ($at === null && !is_list_of($lines, 1, 500)) {
        $at = 'lines';
    }
    $total_cents = 0;
    foreach ($at === null ? $lines : [] as $index => $line) {
        if (($field = broken(LINE, $line)) !== null) {
            $at = "lines[$index].$field";
            break;
        }
        $total_cents += $line['quantity'] * $line['price_cents'];
    }
    if ($at === null && ($order['total_cents'] ?? null) !== $total_cents) {
        $at = 'total_cents';
    }
    return $at === null
        ? ['valid' => true, 'lines' => count($lines), 'total_cents' => $total_cents]
        : ['valid' => false, 'at' => $at];
}

/** The first field that breaks a rule. */
function broken(array $rules, mixed $value): ?string
{
    foreach ($rules as $name => $is_good) {
        if (!$is_good(is_array($value) ? $value[$name] ?? null : null)) {
            return $name;
        }
    }
    return null;
}

function is_text(mixed $value, int $least, int $most): bool
{
    if (!is_string($value)) {
        return false;
    }
    // Counts characters, not bytes: json_decode returns UTF-8.
    $length = strlen($value) - preg_match_all('/[\x80-\xBF]/', $value);
    return $least <= $length && $length <= $most;
}

function is_like(mixed $value, string $pattern): bool
{
    return is_string($value) && preg_match($pattern, $value) === 1;
}

function is_list_of(mixed $value, int $least, int $most): bool
{
    return is_array($value) && array_is_list($value) && $least <= count($value) && count($value) <= $most;
}

function is_order_number(mixed $value): bool
{
    return is_like($value, '/^A-[0-9]{6}$/D');
}

function is_instant(mixed $value): bool
{
    return is_like($value, '/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/D');
}

function is_name(mixed $value): bool
{
    return is_text($value, 1, 80);
}

function is_address(mixed $value): bool
{
    return is_text($value, 3, 120) && is_like($value, '/^[^@]+@.+$/Ds');
}

function is_country(mixed $value): bool
{
    return is_like($value, '/^[A-Z]{2}$/D');
}

function is_sku(mixed $value): bool
{
    return is_like($value, '/^[A-Z]{3}-[0-9]{4}$/D');
}

function is_title(mixed $value): bool
{
    return is_text($value, 1, 120);
}

function is_quantity(mixed $value): bool
{
    return is_int($value) && 1 <= $value && $value <= 1_000;
}

function is_price(mixed $value): bool
{
    return is_int($value) && 0 <= $value && $value <= 100_000_000;
}

function are_tags(mixed $value): bool
{
    if (!is_list_of($value, 0, 8)) {
        return false;
    }
    foreach ($value as $tag) {
        if (!is_text($tag, 1, 20)) {
            return false;
        }
    }
    return true;
}

function is_note(mixed $value): bool
{
    return $value === null || is_text($value, 0, 200);
}
