<?php

// Connects to the database. A coroutine that waits for it lets others run.

declare(strict_types=1);

function connect(): PDO
{
    $server = sprintf(
        isPostgres() ? 'pgsql:host=%s;port=%s;dbname=%s' : 'mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4',
        getenv('DATABASE_HOST'),
        getenv('DATABASE_PORT'),
        getenv('DATABASE_NAME'),
    );
    return new PDO($server, getenv('DATABASE_USER'), getenv('DATABASE_PASSWORD'), [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::ATTR_EMULATE_PREPARES => getenv('PROTOCOL') === 'text',
        PDO::ATTR_TIMEOUT => 2,
    ]);
}

function isPostgres(): bool
{
    return getenv('DATABASE_ENGINE') === 'postgres';
}

// What Swoole replaces, so that it can switch coroutines: the TCP streams of mysqlnd, or libpq's waiting in PDO.
function databaseHooks(): int
{
    return isPostgres() ? SWOOLE_HOOK_PDO_PGSQL : SWOOLE_HOOK_TCP;
}
