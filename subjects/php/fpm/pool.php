<?php

// The state of the pool: each process has one connection, so the pool of processes is the pool of connections.

declare(strict_types=1);

function pool(): array
{
    $status = fpm_get_status();
    return [
        'size' => $status['total-processes'],
        // Minus this process, which answers without using the database.
        'in_use' => $status['active-processes'] - 1,
        // Requests that wait for a process. For a Unix socket, Linux does not report them, and the queue's length is 0.
        'waiting' => $status['listen-queue-len'] > 0 ? $status['listen-queue'] : null,
        'waits' => null,
        'wait_s' => null,
    ];
}
