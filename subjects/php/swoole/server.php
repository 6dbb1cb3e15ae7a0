<?php

// A Swoole HTTP server for the workloads of the benchmark.

declare(strict_types=1);

use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Http\Server;

require __DIR__ . '/quicksort.php';

$options = getopt('', ['host:', 'port:', 'assets:', 'mode:', 'workers:', 'run:']);
$picture = $options['assets'] . '/file-534k.png';

$routes = [
    '/hello' => function (Response $response): void {
        $response->header('Content-Type', 'text/html; charset=utf-8');
        $response->end('<h1>Hello, World!</h1>');
    },
    '/json' => function (Response $response): void {
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode(['message' => 'Hello, World!']));
    },
    '/quicksort' => function (Response $response): void {
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode(quick_sort(NUMBERS)));
    },
    '/file-534k.png' => function (Response $response) use ($picture): void {
        $response->header('Content-Type', 'image/png');
        $response->sendfile($picture);
    },
];

$server = new Server(
    $options['host'],
    (int) $options['port'],
    $options['mode'] === 'process' ? SWOOLE_PROCESS : SWOOLE_BASE,
);
$server->set([
    'worker_num' => (int) $options['workers'],
    'http_compression' => false,
    'log_file' => '/proc/self/fd/2',
    'pid_file' => $options['run'] . '/swoole.pid',
]);

$server->on('request', function (Request $request, Response $response) use ($routes): void {
    $handler = $routes[$request->server['request_uri']] ?? null;
    if ($handler === null) {
        $response->status(404);
        $response->end('not found');
    } elseif (!in_array($request->getMethod(), ['GET', 'HEAD'], true)) {
        $response->status(405);
        $response->header('Allow', 'GET, HEAD');
        $response->end();
    } else {
        $handler($response);
    }
});

$server->start();
