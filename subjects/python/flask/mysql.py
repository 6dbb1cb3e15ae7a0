"""A connection to MariaDB or MySQL."""

import os

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import DictCursor

PUT = "INSERT INTO stock (amount, id) VALUES (%s, %s) ON DUPLICATE KEY UPDATE amount = VALUES(amount)"

Error = pymysql.Error


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
        # Decimals stay strings, as the database sends them.
        conv={**conversions, FIELD_TYPE.NEWDECIMAL: str},
    )
