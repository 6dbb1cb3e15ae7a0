"""FastAPI for the workloads of the benchmark."""

from typing import Annotated, Literal

from fastapi import FastAPI, HTTPException, Query
from fastapi.responses import HTMLResponse

import database

app = FastAPI()


@app.get("/hello", response_class=HTMLResponse)
async def hello():
    return "<h1>Hello, World!</h1>"


@app.get("/json")
async def greeting():
    return {"message": "Hello, World!"}


Limit = Annotated[int, Query(ge=1, le=10_000)]


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
async def queries(
    n: Annotated[int, Query(ge=1, le=500)], seed: Annotated[int, Query(ge=1, le=2_147_483_646)]
):
    found = []
    for _ in range(n):
        seed = seed * 16_807 % 2_147_483_647
        found += await database.query(database.BY_ID, 1 + seed % 10_000)
    return found
