<?php

// What is known of the pool: each process has one connection, so the pool of processes is the pool of connections.

declare(strict_types=1);

function pool(): array
{
    $status = fpm_get_status();
    return [
        'size' => $status['total-processes'],
        // Less this one, which answers and asks nothing of the database.
        'in_use' => $status['active-processes'] - 1,
        // Requests that wait for a process. Linux does not tell PHP for a Unix socket; the length is 0 then.
        'waiting' => $status['listen-queue-len'] > 0 ? $status['listen-queue'] : null,
        'waits' => null,
        'wait_s' => null,
    ];
}
