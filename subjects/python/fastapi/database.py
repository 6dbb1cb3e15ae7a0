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


async def query(sql, *values):
    async with (await connections()).acquire() as connection, connection.cursor(DictCursor) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchall()


async def add_to_all(ids):
    """Adds 1 to amounts, in one transaction. If it fails, the pool closes the connection."""
    changed = []
    async with (await connections()).acquire() as connection, connection.cursor(DictCursor) as cursor:
        await connection.begin()
        for id in ids:
            await cursor.execute("SELECT amount FROM stock WHERE id = %s FOR UPDATE", (id,))
            amount = (await cursor.fetchone())["amount"] + 1
            await cursor.execute("UPDATE stock SET amount = %s WHERE id = %s", (amount, id))
            changed.append({"amount": amount, "id": id})
        await connection.commit()
    return changed
