"""The pool of connections, which connects when the first query asks."""

import asyncio
import os

import asyncmy
from asyncmy.constants import FIELD_TYPE
from asyncmy.converters import conversions
from asyncmy.cursors import DictCursor

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"

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
                # Decimals as the text that the database sends.
                conv={**conversions, FIELD_TYPE.NEWDECIMAL: str},
            )
    return pool


async def query(sql, value):
    async with (await connections()).acquire() as connection, connection.cursor(DictCursor) as cursor:
        await cursor.execute(sql, (value,))
        return await cursor.fetchall()
