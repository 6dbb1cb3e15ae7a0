<?php

// Ends every answer.

declare(strict_types=1);

use Swoole\Http\Request;
use Swoole\Http\Response;

// Swoole itself would send the body for HEAD, too.
function finish(Request $request, Response $response, string $body): void
{
    if ($request->getMethod() === 'HEAD') {
        finish_head($response, strlen($body));
    } else {
        $response->end($body);
    }
}

function finish_head(Response $response, int $length): void
{
    $response->header('Content-Length', (string) $length);
    $response->end();
}

function send_file(Request $request, Response $response, string $file, string $type): void
{
    $response->header('Content-Type', $type);
    if ($request->getMethod() === 'HEAD') {
        finish_head($response, filesize($file));
    } else {
        $response->sendfile($file);
    }
}
