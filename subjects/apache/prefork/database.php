<?php

// The process's connection to the database, and error handling without it.

declare(strict_types=1);

// The connection of this process: its first request opens it, and PDO keeps it for the next ones. At each request PDO checks
// whether a kept connection is alive, and replaces it if not.
function database(): PDO
{
    $server = sprintf(
        is_postgres() ? 'pgsql:host=%s;port=%s;dbname=%s' : 'mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4',
        getenv('DATABASE_HOST'),
        getenv('DATABASE_PORT'),
        getenv('DATABASE_NAME'),
    );
    // The warning about a lost connection would be a second log line for the same failure.
    return @new PDO($server, getenv('DATABASE_USER'), getenv('DATABASE_PASSWORD'), [
        PDO::ATTR_PERSISTENT => true,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::ATTR_EMULATE_PREPARES => getenv('PROTOCOL') === 'text',
        PDO::ATTR_TIMEOUT => 2,
    ]);
}

function is_postgres(): bool
{
    return getenv('DATABASE_ENGINE') === 'postgres';
}

// Answers 503, or cuts the client's connection if a part of the answer was already sent.
function give_up(PDOException $failure): void
{
    error_log('database: ' . $failure->getMessage());
    if (!headers_sent()) {
        ob_clean();
        header_remove('Content-Type');
        http_response_code(503);
        echo 'the database does not answer';
        return;
    }
    // PHP would end the answer properly, and it would look complete. Only killing the process cuts it.
    flush();
    exec('kill -KILL ' . getmypid());
}
