<?php

declare(strict_types=1);

// The input of the workload quicksort.
const NUMBERS = [
    89, 47, 62, 36, 78, 22, 51, 11, 100, 94, 57, 63, 42, 76, 31, 85, 99, 55, 5, 17,
    68, 28, 45, 71, 8, 60, 83, 79, 48, 92, 43, 12, 61, 23, 87, 54, 3, 72, 37, 80,
    98, 26, 65, 53, 16, 25, 95, 39, 74, 20, 50, 91, 69, 40, 75, 30, 86, 4, 58, 19,
    77, 13, 70, 24, 46, 14, 96, 7, 49, 64, 38, 56, 82, 15, 84, 9, 21, 34, 97, 27,
    67, 52, 66, 90, 41, 6, 35, 10, 73, 18, 81, 44, 29, 59, 88, 2, 32, 1, 33, 93,
];

// Returns a sorted copy, building a new list at every step, as the workload requires.
function quick_sort(array $list): array
{
    if (count($list) < 2) {
        return $list;
    }
    $pivot = $list[0];
    $smaller = [];
    $others = [];
    for ($i = 1; $i < count($list); $i++) {
        if ($list[$i] < $pivot) {
            $smaller[] = $list[$i];
        } else {
            $others[] = $list[$i];
        }
    }
    return array_merge(quick_sort($smaller), [$pivot], quick_sort($others));
}
