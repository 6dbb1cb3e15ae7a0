<?php

// The process's connection to the database, and what is done when there is none.

declare(strict_types=1);

// The connection of this process: made by its first request, and kept by PDO for the next ones. PDO asks a kept
// connection at each request whether it is alive, and replaces it if it is not.
function database(): PDO
{
    $server = sprintf(
        is_postgres() ? 'pgsql:host=%s;port=%s;dbname=%s' : 'mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4',
        getenv('DATABASE_HOST'),
        getenv('DATABASE_PORT'),
        getenv('DATABASE_NAME'),
    );
    // The warning that a kept connection is lost would be a second line in the log for the same failure.
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

// Answers 503, or cuts the connection to the client where a part of the answer is on its way already.
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
    // PHP would end the answer well, and it would look complete. Only the end of the process cuts it.
    flush();
    exec('kill -KILL ' . getmypid());
}
