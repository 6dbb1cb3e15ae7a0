"""Flask for the workloads of the benchmark."""

import hashlib
import json

from flask import Flask, Response, abort, render_template, request

import database
from items import items, keys

app = Flask(__name__)


# Flask's own `jsonify` ends bodies with a newline, unlike the contract.
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


@app.get("/items")
def objects():
    return answer(items(whole("n", 1_000), whole("seed", 2_147_483_646)))


@app.post("/upload")
def upload():
    sent = request.get_data()
    return answer({"bytes": len(sent), "sha256": hashlib.sha256(sent).hexdigest()})


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
    found = []
    for id in keys(whole("n", 500), whole("seed", 2_147_483_646)):
        found += database.query(database.BY_ID, id)
    return answer(found)


@app.get("/fortunes")
def fortunes():
    add = request.args.get("add", "")
    if not 1 <= len(add.encode()) <= 200:
        abort(400)
    rows = [*database.query("SELECT id, message FROM fortune"), {"id": 0, "message": add}]
    return render_template("fortunes.html", rows=sorted(rows, key=lambda row: row["message"]))


# Locking rows in the same order prevents deadlocks.
@app.post("/updates")
def updates():
    ids = set(keys(whole("n", 100), whole("seed", 2_147_483_646)))
    return answer(database.add_to_all(sorted(ids)))


def stock_id():
    return whole("id", 1_000_000_000)


@app.get("/crud")
def read_row():
    row = database.read_row(stock_id())
    return answer(row) if row else abort(404)


@app.put("/crud")
def write_row():
    id, sent = stock_id(), request.get_json()
    amount = sent.get("amount") if isinstance(sent, dict) else None
    if type(amount) is not int or not 0 <= amount <= 999_999_999:
        abort(400)
    return answer(database.write_row(id, amount))


@app.delete("/crud")
def delete_row():
    database.delete_row(stock_id())
    return "", 204
