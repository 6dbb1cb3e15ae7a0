"""The connection pool for PostgreSQL, opened at the first query."""

import asyncio
import os
from contextlib import asynccontextmanager
from functools import cache
from itertools import count

import asyncpg

PUT = "INSERT INTO stock (amount, id) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"

opening = asyncio.Lock()
pool = None


async def connections():
    global pool
    async with opening:
        if pool is None:
            pool = await asyncpg.create_pool(
                host=os.environ["DATABASE_HOST"],
                port=int(os.environ["DATABASE_PORT"]),
                database=os.environ["DATABASE_NAME"],
                user=os.environ["DATABASE_USER"],
                password=os.environ["DATABASE_PASSWORD"],
                min_size=1,
                max_size=int(os.environ["DATABASE_POOL"]),
                timeout=2,
                init=text_decimals,
            )
    return pool


async def text_decimals(connection):
    """Keeps decimals as strings, as the database sends them."""
    await connection.set_type_codec("numeric", schema="pg_catalog", encoder=str, decoder=str)


@cache
def numbered(sql):
    """Replaces each %s by PostgreSQL's $1, $2, …"""
    first, *rest = sql.split("%s")
    return first + "".join(f"${number}{text}" for number, text in zip(count(1), rest))


async def query(sql, *values):
    return [dict(row) for row in await (await connections()).fetch(numbered(sql), *values)]


@asynccontextmanager
async def transaction():
    """Yields a function that queries within one transaction."""
    async with (await connections()).acquire() as connection, connection.transaction():
        yield lambda sql, *values: connection.fetch(numbered(sql), *values)
