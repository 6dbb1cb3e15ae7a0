<?php

// A counter for all workers, in shared memory.

declare(strict_types=1);

use Swoole\Atomic\Long;
use Swoole\Table;

interface Counter
{
    public function add(): int;
    public function value(): int;
}

final class AtomicCounter implements Counter
{
    private Long $number;

    public function __construct()
    {
        $this->number = new Long();
    }

    public function add(): int
    {
        return $this->number->add();
    }

    public function value(): int
    {
        return $this->number->get();
    }
}

final class TableCounter implements Counter
{
    private Table $table;

    public function __construct()
    {
        $this->table = new Table(1);
        $this->table->column('value', Table::TYPE_INT);
        $this->table->create();
        $this->table->set('counter', ['value' => 0]);
    }

    public function add(): int
    {
        return $this->table->incr('counter', 'value');
    }

    public function value(): int
    {
        return $this->table->get('counter', 'value');
    }
}
