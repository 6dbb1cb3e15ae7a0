<?php

// Database connections, shared by the coroutines of one worker.

declare(strict_types=1);

use Swoole\Atomic;
use Swoole\Atomic\Long;
use Swoole\Coroutine\Channel;

// Totals over the pools of all workers, in shared memory.
final class PoolFigures
{
    public readonly Atomic $inUse;
    public readonly Atomic $waiting;
    public readonly Atomic $waits;
    public readonly Long $waitNs;

    public function __construct(public readonly int $size)
    {
        $this->inUse = new Atomic();
        $this->waiting = new Atomic();
        $this->waits = new Atomic();
        $this->waitNs = new Long();
    }

    public function all(): array
    {
        return [
            'size' => $this->size,
            'in_use' => $this->inUse->get(),
            'waiting' => $this->waiting->get(),
            'waits' => $this->waits->get(),
            'wait_s' => $this->waitNs->get() / 1e9,
        ];
    }
}

final class Pool
{
    // One entry for each connection in use. Pushing to a full channel waits until another entry is popped.
    private Channel $inUse;
    private SplStack $idle;

    public function __construct(int $size, private Closure $connect, private PoolFigures $figures)
    {
        $this->inUse = new Channel($size);
        $this->idle = new SplStack();
    }

    // Does the work with a connection that no other coroutine uses meanwhile. It connects if there is no idle connection, and drops
    // the connection after a failure.
    public function with(Closure $work): mixed
    {
        $this->enter();
        try {
            $connection = $this->idle->isEmpty() ? ($this->connect)() : $this->idle->pop();
            $result = $work($connection);
            $this->idle->push($connection);
            return $result;
        } catch (PDOException $failure) {
            // Whatever broke this connection has probably broken the idle ones, too.
            $this->idle = new SplStack();
            throw $failure;
        } finally {
            unset($connection);
            $this->figures->inUse->sub();
            $this->inUse->pop();
        }
    }

    private function enter(): void
    {
        if ($this->inUse->isFull()) {
            $this->figures->waiting->add();
            $since = hrtime(true);
            $this->inUse->push(true);
            $this->figures->waiting->sub();
            $this->figures->waits->add();
            $this->figures->waitNs->add(hrtime(true) - $since);
        } else {
            $this->inUse->push(true);
        }
        $this->figures->inUse->add();
    }
}
