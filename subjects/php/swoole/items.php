<?php

// The workload items: objects derived from two numbers in the query.

declare(strict_types=1);

const NAMES = ['anvil', 'basket', 'candle', 'drum', 'easel', 'funnel', 'goblet', 'hammer'];

/** Status, type and body of the answer to a query. */
function answer_with_items(array $query): array
{
    $count = whole($query['n'] ?? null, 1000);
    $x = whole($query['seed'] ?? null, 2147483646);
    if ($count === false || $x === false) {
        return [400, 'text/plain', 'n is 1 to 1000, seed 1 to 2147483646'];
    }
    $items = [];
    for ($i = 0; $i < $count; $i++) {
        $x = $x * 16807 % 2147483647;
        $items[] = item($x);
    }
    return [200, 'application/json', json_encode($items)];
}

function item(int $x): array
{
    $price_cents = 1 + $x % 10000;
    $quantity = 1 + $x % 9;
    return [
        'id' => $x,
        'name' => NAMES[$x % 8],
        'price_cents' => $price_cents,
        'quantity' => $quantity,
        'in_stock' => $x % 3 === 0,
        'rating' => ['stars' => 1 + $x % 5, 'votes' => $x % 1000],
        'total_cents' => $price_cents * $quantity,
    ];
}

function whole(mixed $value, int $most): int|false
{
    return filter_var($value, FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => $most]]);
}
