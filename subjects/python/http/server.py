"""A plain http.server for the workloads `hello` and `json`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def hello():
    return "text/html; charset=utf-8", b"<h1>Hello, World!</h1>"


def greeting():
    body = json.dumps({"message": "Hello, World!"}, separators=(",", ":"))
    return "application/json", body.encode()


ROUTES = {"/hello": hello, "/json": greeting}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120
    wbufsize = -1

    def do_GET(self):
        route = ROUTES.get(self.path.partition("?")[0])
        if route is None:
            return self.answer(404, "text/plain", b"not found")
        self.answer(200, *route())

    do_HEAD = do_GET

    def refuse(self):
        # The body of the request stays unread, so the connection cannot be used again.
        self.close_connection = True
        if self.path.partition("?")[0] in ROUTES:
            return self.answer(405, "text/plain", b"", [("Allow", "GET, HEAD"), ("Connection", "close")])
        self.answer(404, "text/plain", b"not found", [("Connection", "close")])

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = refuse

    def answer(self, status, content_type, body, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 511

    def handle_error(self, request, client_address):
        # A client that hangs up is no error of the server.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
