<?php

// The state of the pool: each process has one connection, so the pool of processes is the pool of connections.

declare(strict_types=1);

// Apache does not tell PHP about its other processes.
function pool(): array
{
    return [
        'size' => (int) getenv('WORKERS'),
        'in_use' => null,
        'waiting' => null,
        'waits' => null,
        'wait_s' => null,
    ];
}
