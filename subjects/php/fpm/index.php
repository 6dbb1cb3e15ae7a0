<?php

// The front script: handles every path that the web server does not handle itself.

declare(strict_types=1);

$path = strtok($_SERVER['REQUEST_URI'], '?');

$answer = match ($path) {
    '/hello' => 'hello',
    '/json' => 'json',
    '/quicksort' => 'quicksort',
    '/file-534k.png' => 'picture',
    '/validate' => 'validate',
    '/items' => 'items',
    // The web server compresses it.
    '/compressed' => 'items',
    '/upload' => 'upload',
    '/upstream' => 'upstream',
    '/rows', '/query', '/queries', '/fortunes', '/updates', '/counter', '/fidelity', '/pool' => 'data',
    // The web server serves these files, so only other methods and missing files reach this.
    default => str_starts_with($path, '/static/') ? 'missing' : null,
};
$methods = match ($path) {
    '/counter' => ['GET', 'HEAD', 'POST'],
    '/validate', '/upload', '/updates' => ['POST'],
    default => ['GET', 'HEAD'],
};

if ($answer === null) {
    http_response_code(404);
    echo 'not found';
} elseif (!in_array($_SERVER['REQUEST_METHOD'], $methods, true)) {
    http_response_code(405);
    header('Allow: ' . implode(', ', $methods));
} else {
    $answer();
}

function hello(): void
{
    header('Content-Type: text/html; charset=utf-8');
    echo '<h1>Hello, World!</h1>';
}

function json(): void
{
    header('Content-Type: application/json');
    echo json_encode(['message' => 'Hello, World!']);
}

function quicksort(): void
{
    require __DIR__ . '/../lib/quicksort.php';
    header('Content-Type: application/json');
    echo json_encode(quick_sort(NUMBERS));
}

function validate(): void
{
    require __DIR__ . '/../lib/validate.php';
    answer(...answer_to_order(file_get_contents('php://input')));
}

function items(): void
{
    require __DIR__ . '/../lib/items.php';
    answer(...answer_with_items($_GET));
}

function upload(): void
{
    $sent = file_get_contents('php://input');
    answer(200, 'application/json', json_encode(['bytes' => strlen($sent), 'sha256' => hash('sha256', $sent)]));
}

function upstream(): void
{
    require __DIR__ . '/../lib/items.php';
    $key = whole($_GET['key'] ?? null, 2147483646);
    if ($key === false) {
        answer(400, 'text/plain', 'key is 1 to 2147483646');
        return;
    }
    // PHP closes open connections at the end of a request, so each request has its own.
    $answer = file_get_contents('http://' . getenv('UPSTREAM') . "/word?key=$key");
    answer(200, 'application/json', json_encode(['key' => $key, 'said' => json_decode($answer)->word]));
}

function answer(int $status, string $type, string $body): void
{
    http_response_code($status);
    header("Content-Type: $type");
    echo $body;
}

function picture(): void
{
    $file = $_SERVER['ASSETS'] . '/file-534k.png';
    header('Content-Type: image/png');
    header('Content-Length: ' . filesize($file));
    readfile($file);
}

function missing(): void
{
    http_response_code(404);
    echo 'not found';
}

function data(): void
{
    require __DIR__ . '/../lib/data.php';
    answer_with_data(strtok($_SERVER['REQUEST_URI'], '?'));
}
