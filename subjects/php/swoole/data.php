<?php

// The workloads that use the database, and the counter.

declare(strict_types=1);

use Swoole\Coroutine;
use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Server;

use function Swoole\Coroutine\batch;

// Without these flags json_encode would escape "/", all non-ASCII characters, and two line terminators.
const CANONICAL = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS | JSON_THROW_ON_ERROR;
const ONE_ROW = 'SELECT * FROM rows40_text WHERE id = ?';
const CHUNK_BYTES = 65536;
const MOST_UNSENT_BYTES = 262144;

final class Data
{
    public function __construct(
        private Pool $pool,
        private PoolFigures $figures,
        private Counter $counter,
        private Crud $crud,
        private Server $server,
    ) {
    }

    public function routes(): array
    {
        $routes = [
            '/rows' => $this->rows(...),
            '/query' => $this->query(...),
            '/queries' => $this->queries(...),
            '/fortunes' => $this->fortunes(...),
            '/updates' => $this->updates(...),
            '/crud' => $this->crud->answer(...),
            '/fidelity' => $this->fidelity(...),
            '/shared-connection' => $this->sharedConnection(...),
            '/counter' => $this->counter(...),
            '/pool' => fn (Request $request, Response $response) => send($request, $response, $this->figures->all()),
        ];
        return array_map($this->guarded(...), $routes);
    }

    // Answers, or reports the error.
    private function guarded(Closure $answer): Closure
    {
        return function (Response $response, Request $request) use ($answer): void {
            try {
                $answer($request, $response);
            } catch (InvalidArgumentException $wrong) {
                $response->status(400);
                finish($request, $response, $wrong->getMessage());
            } catch (PDOException $failure) {
                error_log('database: ' . $failure->getMessage());
                // If not writable: a part of the answer was sent, and the connection was cut.
                if ($response->isWritable()) {
                    $response->status(503);
                    finish($request, $response, 'the database does not answer');
                }
            }
        };
    }

    private function rows(Request $request, Response $response): void
    {
        $view = match ($request->get['fields'] ?? null) {
            '40' => 'rows40_text',
            '50' => 'rows50_text',
            default => throw new InvalidArgumentException('fields must be 40 or 50'),
        };
        $sql = "SELECT * FROM $view ORDER BY id LIMIT ?";
        $limit = number($request, 'limit', 10000);
        // For HEAD there is nothing to stream.
        if (getenv('ROWS') === 'stream' && $request->getMethod() === 'GET') {
            $this->pool->with(fn (PDO $connection) => stream($connection, $sql, $limit, $response, $this->server));
        } else {
            $rows = $this->pool->with(function (PDO $connection) use ($sql, $limit): array {
                $statement = $connection->prepare($sql);
                $statement->bindValue(1, $limit, PDO::PARAM_INT);
                $statement->execute();
                return $statement->fetchAll();
            });
            send($request, $response, $rows);
        }
    }

    private function query(Request $request, Response $response): void
    {
        $id = number($request, 'id', 10000);
        $row = $this->pool->with(fn (PDO $connection) => oneRow($connection->prepare(ONE_ROW), $id));
        if ($row === false) {
            $response->status(404);
            finish($request, $response, 'not found');
        } else {
            send($request, $response, $row);
        }
    }

    private function queries(Request $request, Response $response): void
    {
        $count = number($request, 'n', 500);
        $x = number($request, 'seed', 2147483646);
        $rows = $this->pool->with(function (PDO $connection) use ($count, $x): array {
            $statement = $connection->prepare(ONE_ROW);
            $rows = [];
            for ($i = 0; $i < $count; $i++) {
                $x = $x * 16807 % 2147483647;
                $rows[] = oneRow($statement, 1 + $x % 10000);
            }
            return $rows;
        });
        send($request, $response, $rows);
    }

    private function fortunes(Request $request, Response $response): void
    {
        $add = $request->get['add'] ?? '';
        if (!is_string($add) || $add === '' || strlen($add) > 200) {
            throw new InvalidArgumentException('add must be 1 to 200 bytes');
        }
        $sql = 'SELECT id, message FROM fortune';
        $fetch = fn (PDO $connection) => $connection->query($sql)->fetchAll(PDO::FETCH_KEY_PAIR);
        $fortunes = $this->pool->with($fetch);
        $fortunes[0] = $add;
        asort($fortunes, SORT_STRING);
        $response->header('Content-Type', 'text/html; charset=utf-8');
        finish($request, $response, fortunesPage($fortunes));
    }

    // Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
    private function updates(Request $request, Response $response): void
    {
        $count = number($request, 'n', 100);
        $x = number($request, 'seed', 2147483646);
        $keys = [];
        for ($i = 0; $i < $count; $i++) {
            $x = $x * 16807 % 2147483647;
            $keys[1 + $x % 10000] = true;
        }
        ksort($keys);
        // After a failure the pool drops the connection, which rolls the transaction back.
        $changed = $this->pool->with(fn (PDO $connection) => addToAll($connection, array_keys($keys)));
        send($request, $response, $changed);
    }

    private function fidelity(Request $request, Response $response): void
    {
        $sql = 'SELECT * FROM fidelity ORDER BY id';
        $rows = $this->pool->with(fn (PDO $connection) => $connection->query($sql)->fetchAll());
        // PDO returns PostgreSQL's bytes as streams.
        array_walk_recursive($rows, function (mixed &$value): void {
            $value = is_resource($value) ? stream_get_contents($value) : $value;
        });
        // Without this flag, bytes that are not UTF-8 would make json_encode reject the whole answer.
        send($request, $response, $rows, JSON_INVALID_UTF8_SUBSTITUTE);
    }

    private function counter(Request $request, Response $response): void
    {
        send($request, $response, $request->getMethod() === 'POST' ? $this->counter->add() : $this->counter->value());
    }

    // Two coroutines at once, on one connection or on two.
    private function sharedConnection(Request $request, Response $response): void
    {
        $begun = hrtime(true);
        $errors = match ($request->get['from'] ?? null) {
            'one' => $this->pool->with(fn (PDO $connection) => twiceAtOnce(fn () => sleepInside($connection))),
            'pool' => twiceAtOnce(fn () => $this->pool->with(sleepInside(...))),
            default => throw new InvalidArgumentException('from must be one or pool'),
        };
        $elapsed_s = (hrtime(true) - $begun) / 1e9;
        send($request, $response, ['elapsed_s' => $elapsed_s, 'errors' => $errors]);
    }
}

// Unbuffered: the driver returns rows as they arrive, instead of reading the whole result first. PDO can do this with MySQL only.
function stream(PDO $connection, string $sql, int $limit, Response $response, Server $server): void
{
    $connection->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
    $statement = $connection->prepare($sql);
    $statement->bindValue(1, $limit, PDO::PARAM_INT);
    $statement->execute();
    $response->header('Content-Type', 'application/json');
    $chunk = '';
    $before = '[';
    $sent = false;
    try {
        while ($row = $statement->fetch()) {
            $chunk .= $before . json_encode($row, CANONICAL);
            $before = ',';
            if (strlen($chunk) >= CHUNK_BYTES) {
                $sent = true;
                if (!clientHasRoom($server, $response->fd) || !$response->write($chunk)) {
                    break;
                }
                $chunk = '';
            }
        }
    } catch (PDOException $failure) {
        if ($sent) {
            $response->close();
        }
        throw $failure;
    }
    // Reads the rest of the result, so that the next request can use the connection.
    $statement->closeCursor();
    $response->end($chunk . ($before === '[' ? '[]' : ']'));
}

// Waits until the client has taken most of what was written; returns false if it is gone. Swoole can wait inside of write (its
// setting send_yield). But version 6.2 forgets some waiting coroutines whose client goes away, and leaks their connections.
function clientHasRoom(Server $server, int $client): bool
{
    while (($state = $server->getClientInfo($client)) && $state['send_queued_bytes'] > MOST_UNSENT_BYTES) {
        Coroutine::sleep(0.001);
    }
    return $state !== false;
}

function oneRow(PDOStatement $statement, int $id): array|false
{
    $statement->bindValue(1, $id, PDO::PARAM_INT);
    $statement->execute();
    $row = $statement->fetch();
    $statement->closeCursor();
    return $row;
}

function fortunesPage(array $fortunes): string
{
    ob_start();
    require __DIR__ . '/fortunes.php';
    return ob_get_clean();
}

function addToAll(PDO $connection, array $keys): array
{
    $connection->beginTransaction();
    $read = $connection->prepare('SELECT amount FROM stock WHERE id = ? FOR UPDATE');
    $write = $connection->prepare('UPDATE stock SET amount = ? WHERE id = ?');
    $changed = [];
    foreach ($keys as $id) {
        $read->execute([$id]);
        $amount = $read->fetchColumn() + 1;
        $read->closeCursor();
        $write->execute([$amount, $id]);
        $changed[] = ['amount' => $amount, 'id' => $id];
    }
    $connection->commit();
    return $changed;
}

function sleepInside(PDO $connection): void
{
    $connection->query(isPostgres() ? 'SELECT pg_sleep(0.2)' : 'SELECT SLEEP(0.2)')->fetchAll();
}

// The driver's errors. If both attempts fail, running at the same time was not the reason.
function twiceAtOnce(Closure $work): array
{
    $attempt = function () use ($work): ?PDOException {
        try {
            $work();
            return null;
        } catch (PDOException $failure) {
            return $failure;
        }
    };
    $failures = array_values(array_filter(batch([$attempt, $attempt])));
    if (count($failures) === 2) {
        throw $failures[0];
    }
    return array_map(fn (PDOException $failure) => $failure->getMessage(), $failures);
}

function number(Request $request, string $name, int $most): int
{
    $range = ['options' => ['min_range' => 1, 'max_range' => $most]];
    $number = filter_var($request->get[$name] ?? null, FILTER_VALIDATE_INT, $range);
    return $number !== false ? $number : throw new InvalidArgumentException("$name must be from 1 to $most");
}

function send(Request $request, Response $response, mixed $value, int $flags = 0): void
{
    $body = json_encode($value, CANONICAL | $flags);
    $response->header('Content-Type', 'application/json');
    finish($request, $response, $body);
}
