"""A connection for each thread, made at its first query."""

import os
import threading

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import DictCursor

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"

own = threading.local()


def connect():
    return pymysql.connect(
        host=os.environ["DATABASE_HOST"],
        port=int(os.environ["DATABASE_PORT"]),
        database=os.environ["DATABASE_NAME"],
        user=os.environ["DATABASE_USER"],
        password=os.environ["DATABASE_PASSWORD"],
        connect_timeout=2,
        read_timeout=5,
        autocommit=True,
        cursorclass=DictCursor,
        # Decimals as the text that the database sends.
        conv={**conversions, FIELD_TYPE.NEWDECIMAL: str},
    )


def query(sql, value):
    if not hasattr(own, "connection"):
        own.connection = connect()
    try:
        with own.connection.cursor() as cursor:
            cursor.execute(sql, (value,))
            return cursor.fetchall()
    except pymysql.Error:
        # The next request connects again.
        own.connection.close()
        del own.connection
        raise
