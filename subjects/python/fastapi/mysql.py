"""The connection pool for MariaDB and MySQL, opened at the first query."""

import asyncio
import os
from contextlib import asynccontextmanager

import asyncmy
from asyncmy.constants import FIELD_TYPE
from asyncmy.converters import conversions
from asyncmy.cursors import DictCursor

PUT = "INSERT INTO stock (amount, id) VALUES (%s, %s) ON DUPLICATE KEY UPDATE amount = VALUES(amount)"

opening = asyncio.Lock()
pool = None


async def connections():
    global pool
    async with opening:
        if pool is None:
            pool = await asyncmy.create_pool(
                host=os.environ["DATABASE_HOST"],
                port=int(os.environ["DATABASE_PORT"]),
                db=os.environ["DATABASE_NAME"],
                user=os.environ["DATABASE_USER"],
                password=os.environ["DATABASE_PASSWORD"],
                minsize=1,
                maxsize=int(os.environ["DATABASE_POOL"]),
                connect_timeout=2,
                autocommit=True,
                # Decimals stay strings, as the database sends them.
                conv={**conversions, FIELD_TYPE.NEWDECIMAL: str},
            )
    return pool


async def query(sql, *values):
    async with (await connections()).acquire() as connection, connection.cursor(DictCursor) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchall()


@asynccontextmanager
async def transaction():
    """Yields a function that queries within one transaction. If it fails, the pool closes the connection."""
    async with (await connections()).acquire() as connection, connection.cursor(DictCursor) as cursor:

        async def ask(sql, *values):
            await cursor.execute(sql, values)
            return await cursor.fetchall()

        await connection.begin()
        yield ask
        await connection.commit()
