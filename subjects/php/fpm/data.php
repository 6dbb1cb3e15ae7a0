<?php

// The workloads that use the database.

declare(strict_types=1);

require __DIR__ . '/database.php';
require __DIR__ . '/pool.php';

// Without these flags json_encode would escape "/", all non-ASCII characters, and two line terminators.
const CANONICAL = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS | JSON_THROW_ON_ERROR;
const ONE_ROW = 'SELECT * FROM rows40_text WHERE id = ?';

function answer_with_data(string $path): void
{
    try {
        match ($path) {
            '/rows' => rows(),
            '/query' => query(),
            '/queries' => queries(),
            '/fortunes' => fortunes(),
            '/updates' => updates(),
            '/counter' => counter(),
            '/fidelity' => fidelity(),
            '/pool' => send(pool()),
        };
    } catch (InvalidArgumentException $wrong) {
        http_response_code(400);
        echo $wrong->getMessage();
    } catch (PDOException $failure) {
        give_up($failure);
    }
}

function rows(): void
{
    $view = match ($_GET['fields'] ?? null) {
        '40' => 'rows40_text',
        '50' => 'rows50_text',
        default => throw new InvalidArgumentException('fields must be 40 or 50'),
    };
    $limit = number('limit', 10000);
    $streams = getenv('ROWS') === 'stream';
    $database = database();
    // Unbuffered: the driver returns rows as they arrive, instead of reading the whole result first.
    if (!is_postgres()) {
        $database->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, !$streams);
    }
    $statement = $database->prepare("SELECT * FROM $view ORDER BY id LIMIT ?");
    $statement->bindValue(1, $limit, PDO::PARAM_INT);
    $statement->execute();
    $streams ? stream($statement) : send($statement->fetchAll());
}

function stream(PDOStatement $statement): void
{
    header('Content-Type: application/json');
    $before = '[';
    while ($row = $statement->fetch()) {
        echo $before, json_encode($row, CANONICAL);
        $before = ',';
    }
    echo $before === '[' ? '[]' : ']';
}

function query(): void
{
    $id = number('id', 10000);
    $row = one_row(database()->prepare(ONE_ROW), $id);
    if ($row === false) {
        http_response_code(404);
        echo 'not found';
    } else {
        send($row);
    }
}

function queries(): void
{
    $count = number('n', 500);
    $x = number('seed', 2147483646);
    $statement = database()->prepare(ONE_ROW);
    $rows = [];
    for ($i = 0; $i < $count; $i++) {
        $x = $x * 16807 % 2147483647;
        $rows[] = one_row($statement, 1 + $x % 10000);
    }
    send($rows);
}

function one_row(PDOStatement $statement, int $id): array|false
{
    $statement->bindValue(1, $id, PDO::PARAM_INT);
    $statement->execute();
    $row = $statement->fetch();
    $statement->closeCursor();
    return $row;
}

function fortunes(): void
{
    $add = $_GET['add'] ?? '';
    if (!is_string($add) || $add === '' || strlen($add) > 200) {
        throw new InvalidArgumentException('add must be 1 to 200 bytes');
    }
    $fortunes = database()->query('SELECT id, message FROM fortune')->fetchAll(PDO::FETCH_KEY_PAIR);
    $fortunes[0] = $add;
    asort($fortunes, SORT_STRING);
    header('Content-Type: text/html; charset=utf-8');
    require __DIR__ . '/fortunes.php';
}

// Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
function updates(): void
{
    $count = number('n', 100);
    $x = number('seed', 2147483646);
    $keys = [];
    for ($i = 0; $i < $count; $i++) {
        $x = $x * 16807 % 2147483647;
        $keys[1 + $x % 10000] = true;
    }
    ksort($keys);
    $database = database();
    $changed = [];
    $database->beginTransaction();
    try {
        $read = $database->prepare('SELECT amount FROM stock WHERE id = ? FOR UPDATE');
        $write = $database->prepare('UPDATE stock SET amount = ? WHERE id = ?');
        foreach (array_keys($keys) as $id) {
            $read->execute([$id]);
            $amount = $read->fetchColumn() + 1;
            $read->closeCursor();
            $write->execute([$amount, $id]);
            $changed[] = ['amount' => $amount, 'id' => $id];
        }
        $database->commit();
    } catch (PDOException $failure) {
        // PDO keeps the connection, so the transaction must not reach the next request.
        if ($database->inTransaction()) {
            $database->rollBack();
        }
        throw $failure;
    }
    send($changed);
}

function counter(): void
{
    $database = database();
    if ($_SERVER['REQUEST_METHOD'] === 'POST') {
        // One statement that adds and returns the value: no two requests get the same number.
        if (is_postgres()) {
            $statement = 'UPDATE counter SET value = value + 1 WHERE id = 1 RETURNING value';
            send((int) $database->query($statement)->fetchColumn());
            return;
        }
        $database->exec('UPDATE counter SET value = LAST_INSERT_ID(value + 1) WHERE id = 1');
        send((int) $database->lastInsertId());
    } else {
        send($database->query('SELECT value FROM counter WHERE id = 1')->fetchColumn());
    }
}

function fidelity(): void
{
    $rows = database()->query('SELECT * FROM fidelity ORDER BY id')->fetchAll();
    // PDO returns PostgreSQL's bytes as streams.
    array_walk_recursive($rows, function (mixed &$value): void {
        $value = is_resource($value) ? stream_get_contents($value) : $value;
    });
    // Without this flag, bytes that are not UTF-8 would make json_encode reject the whole answer.
    send($rows, JSON_INVALID_UTF8_SUBSTITUTE);
}

function number(string $name, int $most): int
{
    $range = ['options' => ['min_range' => 1, 'max_range' => $most]];
    $number = filter_var($_GET[$name] ?? null, FILTER_VALIDATE_INT, $range);
    return $number !== false ? $number : throw new InvalidArgumentException("$name must be from 1 to $most");
}

function send(mixed $value, int $flags = 0): void
{
    $body = json_encode($value, CANONICAL | $flags);
    header('Content-Type: application/json');
    echo $body;
}
