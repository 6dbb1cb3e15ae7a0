"""FastAPI for the workloads of the benchmark."""

import hashlib
import os
from pathlib import Path
from typing import Annotated, Literal

import httpx
from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from pydantic import BaseModel, Field

import database
from items import items, keys

app = FastAPI()
templates = Jinja2Templates(Path(__file__).parent / "templates")


@app.get("/hello", response_class=HTMLResponse)
async def hello():
    return "<h1>Hello, World!</h1>"


@app.get("/json")
async def greeting():
    return {"message": "Hello, World!"}


Limit = Annotated[int, Query(ge=1, le=10_000)]
Seed = Annotated[int, Query(ge=1, le=2_147_483_646)]


@app.get("/items")
async def objects(n: Annotated[int, Query(ge=1, le=1_000)], seed: Seed):
    return items(n, seed)


@app.post("/upload")
async def upload(request: Request):
    sent = await request.body()
    return {"bytes": len(sent), "sha256": hashlib.sha256(sent).hexdigest()}


# One client for all requests, so connections are reused.
service = httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=None))


@app.get("/upstream")
async def upstream(key: Seed):
    answer = await service.get(f"http://{os.environ['UPSTREAM']}/word", params={"key": key})
    return {"key": key, "said": answer.json()["word"]}


@app.get("/rows")
async def rows(fields: Literal["40", "50"], limit: Limit):
    return await database.query(f"SELECT * FROM rows{fields}_text ORDER BY id LIMIT %s", limit)


@app.get("/query")
async def query(id: Limit):
    found = await database.query(database.BY_ID, id)
    if not found:
        raise HTTPException(404)
    return found[0]


@app.get("/queries")
async def queries(n: Annotated[int, Query(ge=1, le=500)], seed: Seed):
    found = []
    for id in keys(n, seed):
        found += await database.query(database.BY_ID, id)
    return found


@app.get("/fortunes", response_class=HTMLResponse)
async def fortunes(request: Request, add: str):
    if not 1 <= len(add.encode()) <= 200:
        raise HTTPException(400)
    rows = [*await database.query("SELECT id, message FROM fortune"), {"id": 0, "message": add}]
    return templates.TemplateResponse(request, "fortunes.html", {"rows": sorted(rows, key=lambda row: row["message"])})


# Locking rows in the same order prevents deadlocks.
@app.post("/updates")
async def updates(n: Annotated[int, Query(ge=1, le=100)], seed: Seed):
    return await database.add_to_all(sorted(set(keys(n, seed))))


StockId = Annotated[int, Query(ge=1, le=1_000_000_000)]


class Stock(BaseModel):
    amount: Annotated[int, Field(ge=0, le=999_999_999)]


@app.get("/crud")
async def read_row(id: StockId):
    row = await database.read_row(id)
    if row is None:
        raise HTTPException(404)
    return row


@app.put("/crud")
async def write_row(id: StockId, sent: Stock):
    return await database.write_row(id, sent.amount)


@app.delete("/crud", status_code=204)
async def delete_row(id: StockId):
    await database.delete_row(id)
