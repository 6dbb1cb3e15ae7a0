"""Queries the tables, with the database's driver."""

import asyncio
import os

if os.environ["DATABASE_ENGINE"] == "postgres":
    from postgres import PUT, query, transaction
else:
    from mysql import PUT, query, transaction

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"
STOCK = "SELECT amount, id FROM stock WHERE id = %s"
MOST_KEPT = 512


async def add_to_all(ids):
    """Adds 1 to each amount, in one transaction."""
    changed = []
    async with transaction() as ask:
        for id in ids:
            [row] = await ask("SELECT amount FROM stock WHERE id = %s FOR UPDATE", id)
            amount = row["amount"] + 1
            await ask("UPDATE stock SET amount = %s WHERE id = %s", amount, id)
            changed.append({"amount": amount, "id": id})
    return changed


kept = {}


async def read_row(id):
    """A row, or None. The reading task enters the cache before it starts, so a change always finds it."""
    if id not in kept:
        if len(kept) >= MOST_KEPT:
            del kept[next(iter(kept))]
        kept[id] = asyncio.create_task(query(STOCK, id))
    reading = kept[id]
    try:
        # Other requests may wait for this task, so it must go on if this client hangs up.
        rows = await asyncio.shield(reading)
    except Exception:
        if kept.get(id) is reading:
            del kept[id]
        raise
    return rows[0] if rows else None


async def write_row(id, amount):
    await change(id, PUT, amount, id)
    return {"amount": amount, "id": id}


async def delete_row(id):
    await change(id, "DELETE FROM stock WHERE id = %s", id)


async def change(id, sql, *values):
    """Removes the row from the cache even if the change fails, because it may have been made."""
    try:
        await query(sql, *values)
    finally:
        kept.pop(id, None)
