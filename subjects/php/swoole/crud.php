<?php

// The workload crud: one row, read through a cache in the worker, created or changed, deleted.

declare(strict_types=1);

use Swoole\Http\Request;
use Swoole\Http\Response;

final class Crud
{
    public function __construct(private Pool $pool, private RowCache $cache)
    {
    }

    public function answer(Request $request, Response $response): void
    {
        $id = number($request, 'id', 1000000000);
        match ($request->getMethod()) {
            'PUT' => $this->put($id, $request, $response),
            'DELETE' => $this->delete($id, $response),
            default => $this->get($id, $request, $response),
        };
    }

    private function get(int $id, Request $request, Response $response): void
    {
        $sql = 'SELECT amount, id FROM stock WHERE id = ?';
        $stored = fn () => $this->pool->with(fn (PDO $connection) => oneRow($connection->prepare($sql), $id));
        $row = $this->cache->row($id, $stored);
        if ($row === false) {
            $response->status(404);
            finish($request, $response, 'not found');
        } else {
            send($request, $response, $row);
        }
    }

    private function put(int $id, Request $request, Response $response): void
    {
        $amount = json_decode($request->getContent(), true)['amount'] ?? null;
        if (!is_int($amount) || $amount < 0 || $amount > 999999999) {
            throw new InvalidArgumentException('amount must be from 0 to 999999999');
        }
        $update = isPostgres()
            ? 'ON CONFLICT (id) DO UPDATE SET amount = excluded.amount'
            : 'ON DUPLICATE KEY UPDATE amount = VALUES(amount)';
        $this->change($id, "INSERT INTO stock (amount, id) VALUES (?, ?) $update", [$amount, $id]);
        send($request, $response, ['amount' => $amount, 'id' => $id]);
    }

    private function delete(int $id, Response $response): void
    {
        $this->change($id, 'DELETE FROM stock WHERE id = ?', [$id]);
        $response->status(204);
        $response->end();
    }

    private function change(int $id, string $sql, array $values): void
    {
        $write = fn (PDO $connection) => $connection->prepare($sql)->execute($values);
        $this->cache->change($id, fn () => $this->pool->with($write));
    }
}

// Rows that this worker keeps. Several workers would not hear of each other's changes, so they keep none.
final class RowCache
{
    private const MOST = 512;
    private array $kept = [];
    private array $readings = [];

    public function __construct(private bool $keeps)
    {
    }

    // Keeps a row only if no coroutine has changed it since the reading began.
    public function row(int $id, Closure $read): array|false
    {
        if (!$this->keeps) {
            return $read();
        }
        if (isset($this->kept[$id])) {
            return $this->kept[$id];
        }
        $reading = $this->readings[$id] = new stdClass();
        try {
            $row = $read();
            if ($row !== false && ($this->readings[$id] ?? null) === $reading) {
                $this->keep($id, $row);
            }
            return $row;
        } finally {
            if (($this->readings[$id] ?? null) === $reading) {
                unset($this->readings[$id]);
            }
        }
    }

    // A failed change may still have been made, so it also forgets the row.
    public function change(int $id, Closure $write): void
    {
        try {
            $write();
        } finally {
            unset($this->kept[$id], $this->readings[$id]);
        }
    }

    private function keep(int $id, array $row): void
    {
        if (count($this->kept) >= self::MOST) {
            unset($this->kept[array_key_first($this->kept)]);
        }
        $this->kept[$id] = $row;
    }
}
