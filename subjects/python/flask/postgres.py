"""A connection to PostgreSQL."""

import os

import psycopg
from psycopg.rows import dict_row
from psycopg.types.string import TextLoader

PUT = "INSERT INTO stock (amount, id) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"

Error = psycopg.Error


def connect():
    connection = psycopg.connect(
        host=os.environ["DATABASE_HOST"],
        port=os.environ["DATABASE_PORT"],
        dbname=os.environ["DATABASE_NAME"],
        user=os.environ["DATABASE_USER"],
        password=os.environ["DATABASE_PASSWORD"],
        connect_timeout=2,
        autocommit=True,
        row_factory=dict_row,
    )
    # Decimals stay strings, as the database sends them.
    connection.adapters.register_loader("numeric", TextLoader)
    return connection
