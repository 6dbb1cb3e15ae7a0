<?php

// The workload upstream: requests the upstream service's word for a key.

declare(strict_types=1);

use Swoole\Coroutine\Http\Client;

/** A worker's connections to the service. A coroutine takes an idle one or opens another, and lets others run while it waits. */
final class Upstream
{
    private array $idle = [];
    private string $host;
    private int $port;

    public function __construct(string $address)
    {
        [$this->host, $port] = [...explode(':', $address), ''];
        $this->port = (int) $port;
    }

    /** Status, type and body of the answer to a query. */
    public function answer(array $query): array
    {
        $key = whole($query['key'] ?? null, 2147483646);
        if ($key === false) {
            return [400, 'text/plain', 'key is 1 to 2147483646'];
        }
        $client = array_pop($this->idle) ?? new Client($this->host, $this->port);
        if (!$client->get("/word?key=$key") || $client->statusCode !== 200) {
            $client->close();
            return [502, 'text/plain', 'the service does not answer'];
        }
        $said = json_decode($client->body)->word;
        $this->idle[] = $client;
        return [200, 'application/json', json_encode(['key' => $key, 'said' => $said])];
    }
}
