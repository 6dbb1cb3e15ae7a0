"""One connection per thread, opened at its first query."""

import os
import threading
from contextlib import contextmanager

from cache import cached, forget

if os.environ["DATABASE_ENGINE"] == "postgres":
    from postgres import PUT, Error, connect
else:
    from mysql import PUT, Error, connect

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"
STOCK = "SELECT amount, id FROM stock WHERE id = %s"

own = threading.local()


@contextmanager
def cursor():
    if not hasattr(own, "connection"):
        own.connection = connect()
    try:
        with own.connection.cursor() as opened:
            yield opened
    except Error:
        # The thread's next query connects again.
        own.connection.close()
        del own.connection
        raise


def query(sql, *values):
    with cursor() as asked:
        asked.execute(sql, values)
        return asked.fetchall() if asked.description else []


def add_to_all(ids):
    """Adds 1 to each amount, in one transaction."""
    changed = []
    with cursor() as asked:
        asked.execute("BEGIN")
        for id in ids:
            asked.execute("SELECT amount FROM stock WHERE id = %s FOR UPDATE", (id,))
            amount = asked.fetchone()["amount"] + 1
            asked.execute("UPDATE stock SET amount = %s WHERE id = %s", (amount, id))
            changed.append({"amount": amount, "id": id})
        asked.execute("COMMIT")
    return changed


def read_row(id):
    rows = cached(id, lambda id: query(STOCK, id))
    return rows[0] if rows else None


def write_row(id, amount):
    change(id, PUT, amount, id)
    return {"amount": amount, "id": id}


def delete_row(id):
    change(id, "DELETE FROM stock WHERE id = %s", id)


def change(id, sql, *values):
    """Removes the row from the cache even if the change fails, because it may have been made."""
    try:
        query(sql, *values)
    finally:
        forget(id)
