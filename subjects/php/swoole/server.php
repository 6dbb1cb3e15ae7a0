<?php

// A Swoole HTTP server for the workloads of the benchmark.

declare(strict_types=1);

use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Http\Server;

require __DIR__ . '/answer.php';
require __DIR__ . '/quicksort.php';
require __DIR__ . '/validate.php';
require __DIR__ . '/items.php';
require __DIR__ . '/upstream.php';
require __DIR__ . '/database.php';
require __DIR__ . '/pool.php';
require __DIR__ . '/counter.php';
require __DIR__ . '/crud.php';
require __DIR__ . '/data.php';

$options = getopt('', ['host:', 'port:', 'assets:', 'mode:', 'workers:', 'run:']);
$picture = $options['assets'] . '/file-534k.png';
// Each worker gets its own copy.
$upstream = new Upstream(getenv('UPSTREAM'));

$routes = [
    '/hello' => function (Response $response, Request $request): void {
        $response->header('Content-Type', 'text/html; charset=utf-8');
        finish($request, $response, '<h1>Hello, World!</h1>');
    },
    '/json' => function (Response $response, Request $request): void {
        $response->header('Content-Type', 'application/json');
        finish($request, $response, json_encode(['message' => 'Hello, World!']));
    },
    '/quicksort' => function (Response $response, Request $request): void {
        $response->header('Content-Type', 'application/json');
        finish($request, $response, json_encode(quick_sort(NUMBERS)));
    },
    '/validate' => function (Response $response, Request $request): void {
        [$status, $type, $body] = answer_to_order($request->getContent());
        $response->status($status);
        $response->header('Content-Type', $type);
        $response->end($body);
    },
    '/items' => function (Response $response, Request $request): void {
        [$status, $type, $body] = answer_with_items($request->get ?? []);
        $response->status($status);
        $response->header('Content-Type', $type);
        finish($request, $response, $body);
    },
    '/compressed' => function (Response $response, Request $request): void {
        [$status, $type, $body] = answer_with_items($request->get ?? []);
        $response->status($status);
        $response->header('Content-Type', $type);
        if ($status === 200 && str_contains($request->header['accept-encoding'] ?? '', 'gzip')) {
            $response->header('Content-Encoding', 'gzip');
            $body = gzencode($body);
        }
        finish($request, $response, $body);
    },
    '/upload' => function (Response $response, Request $request): void {
        $sent = $request->getContent();
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode(['bytes' => strlen($sent), 'sha256' => hash('sha256', $sent)]));
    },
    '/upstream' => function (Response $response, Request $request) use ($upstream): void {
        [$status, $type, $body] = $upstream->answer($request->get ?? []);
        $response->status($status);
        $response->header('Content-Type', $type);
        finish($request, $response, $body);
    },
    '/file-534k.png' => function (Response $response, Request $request) use ($picture): void {
        send_file($request, $response, $picture, 'image/png');
    },
];

/** A handler that sends a file of the folder static, if the path names an existing one. */
function static_file(string $path, string $assets): ?Closure
{
    if (preg_match('#^/static/[0-9a-z]+\.bin$#D', $path) !== 1 || !is_file($assets . $path)) {
        return null;
    }
    return fn (Response $response, Request $request) =>
        send_file($request, $response, $assets . $path, 'application/octet-stream');
}

$workers = (int) $options['workers'];
$server = new Server(
    $options['host'],
    (int) $options['port'],
    $options['mode'] === 'process' ? SWOOLE_PROCESS : SWOOLE_BASE,
);
$server->set([
    'worker_num' => $workers,
    'http_compression' => false,
    'log_file' => '/proc/self/fd/2',
    'pid_file' => $options['run'] . '/swoole.pid',
    // Row-by-row output is paced in data.php.
    'send_yield' => getenv('ROWS') !== 'stream',
]);
if (getenv('DATABASE_HOST') !== '') {
    $server->set(['hook_flags' => databaseHooks()]);
}

$share = max(1, intdiv((int) getenv('DATABASE_POOL'), $workers));
$figures = new PoolFigures($share * $workers);
$counter = getenv('COUNTER') === 'table' ? new TableCounter() : new AtomicCounter();
// Created before the workers, each of which then has its own copy. Connections are only made in the workers.
$pool = new Pool($share, connect(...), $figures);
$crud = new Crud($pool, new RowCache($workers === 1));
$routes += (new Data($pool, $figures, $counter, $crud, $server))->routes();

$server->on('request', function (Request $request, Response $response) use ($routes, $options): void {
    $path = $request->server['request_uri'];
    $handler = $routes[$path] ?? static_file($path, $options['assets']);
    $methods = match ($path) {
        '/counter' => ['GET', 'HEAD', 'POST'],
        '/crud' => ['GET', 'HEAD', 'PUT', 'DELETE'],
        '/validate', '/upload', '/updates' => ['POST'],
        default => ['GET', 'HEAD'],
    };
    if ($handler === null) {
        $response->status(404);
        finish($request, $response, 'not found');
    } elseif (!in_array($request->getMethod(), $methods, true)) {
        $response->status(405);
        $response->header('Allow', implode(', ', $methods));
        $response->end();
    } else {
        $handler($response, $request);
    }
});

$server->start();
