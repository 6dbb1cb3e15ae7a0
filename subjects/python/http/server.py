"""A plain http.server for the workloads that need only the standard library."""

import gzip
import hashlib
import json
import os
import re
import shutil
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl


NAMES = ["anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"]


def hello(_):
    return 200, "text/html; charset=utf-8", b"<h1>Hello, World!</h1>"


def as_json(value):
    return 200, "application/json", json.dumps(value, separators=(",", ":")).encode()


def greeting(_):
    return as_json({"message": "Hello, World!"})


def items(query):
    values = dict(parse_qsl(query))
    count, x = whole(values.get("n", ""), 1000), whole(values.get("seed", ""), 2147483646)
    if count is None or x is None:
        return 400, "text/plain", b"n is 1 to 1000, seed 1 to 2147483646"
    found = []
    for _ in range(count):
        x = x * 16807 % 2147483647
        found.append(item(x))
    return as_json(found)


def item(x):
    price_cents, quantity = 1 + x % 10000, 1 + x % 9
    return {
        "id": x,
        "name": NAMES[x % 8],
        "price_cents": price_cents,
        "quantity": quantity,
        "in_stock": x % 3 == 0,
        "rating": {"stars": 1 + x % 5, "votes": x % 1000},
        "total_cents": price_cents * quantity,
    }


def whole(text, most):
    value = int(text) if text.isascii() and text.isdigit() else 0
    return value if 1 <= value <= most else None


def upload(sent):
    return as_json({"bytes": len(sent), "sha256": hashlib.sha256(sent).hexdigest()})


READS = {"/hello": hello, "/json": greeting, "/items": items, "/compressed": items}
WRITES = {"/upload": upload}
FILE = re.compile(r"/static/[0-9a-z]+\.bin")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120
    wbufsize = -1

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if FILE.fullmatch(path):
            return self.send_file(path)
        if path not in READS:
            return self.refuse()
        status, content_type, body = READS[path](query)
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if path != "/compressed" or status != 200 or not accepts_gzip:
            return self.answer(status, content_type, body)
        self.answer(status, content_type, gzip.compress(body, 6), [("Content-Encoding", "gzip")])

    do_HEAD = do_GET

    def do_POST(self):
        path = self.path.partition("?")[0]
        length = self.headers.get("Content-Length", "")
        if path not in WRITES or not length.isdigit():
            return self.refuse()
        self.answer(*WRITES[path](self.rfile.read(int(length))))

    def refuse(self):
        # The request's body stays unread, so the connection cannot be reused.
        self.close_connection = True
        path = self.path.partition("?")[0]
        allowed = "GET, HEAD" if path in READS or FILE.fullmatch(path) else "POST" if path in WRITES else None
        if allowed is None:
            return self.answer(404, "text/plain", b"not found", [("Connection", "close")])
        if self.command in allowed:
            return self.answer(411, "text/plain", b"Content-Length is missing", [("Connection", "close")])
        self.answer(405, "text/plain", b"", [("Allow", allowed), ("Connection", "close")])

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = refuse

    def send_file(self, path):
        try:
            file = open(self.assets + path, "rb")
        except FileNotFoundError:
            return self.answer(404, "text/plain", b"not found")
        with file:
            self.head(200, "application/octet-stream", os.fstat(file.fileno()).st_size)
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)

    def head(self, status, content_type, length, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def answer(self, status, content_type, body, headers=()):
        self.head(status, content_type, len(body), headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 511

    def handle_error(self, request, client_address):
        # A client that hangs up is not a server error.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    host, port, Handler.assets = sys.argv[1:]
    Server((host, int(port)), Handler).serve_forever()
