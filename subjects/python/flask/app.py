"""Flask for the workloads of the benchmark."""

import json

from flask import Flask, Response, abort, request

import database

app = Flask(__name__)


# Flask's own `jsonify` ends bodies with a newline, which the contract does not have.
def answer(value):
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(body, mimetype="application/json")


def whole(name, largest):
    value = request.args.get(name, "")
    if not value.isdecimal() or not 1 <= int(value) <= largest:
        abort(400)
    return int(value)


@app.get("/hello")
def hello():
    return "<h1>Hello, World!</h1>"


@app.get("/json")
def greeting():
    return answer({"message": "Hello, World!"})


@app.get("/rows")
def rows():
    fields = request.args.get("fields")
    if fields not in ("40", "50"):
        abort(400)
    return answer(database.query(f"SELECT * FROM rows{fields}_text ORDER BY id LIMIT %s", whole("limit", 10_000)))


@app.get("/query")
def query():
    found = database.query(database.BY_ID, whole("id", 10_000))
    return answer(found[0]) if found else abort(404)


@app.get("/queries")
def queries():
    seed = whole("seed", 2_147_483_646)
    found = []
    for _ in range(whole("n", 500)):
        seed = seed * 16_807 % 2_147_483_647
        found += database.query(database.BY_ID, 1 + seed % 10_000)
    return answer(found)
