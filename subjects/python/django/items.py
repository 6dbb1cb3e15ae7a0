"""The computations of the workloads without a database. Every Python framework has a copy of this file."""

NAMES = ["anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"]


def drawn(n, seed):
    """n numbers derived from a seed."""
    for _ in range(n):
        seed = seed * 16_807 % 2_147_483_647
        yield seed


def keys(n, seed):
    """Row keys, which may repeat."""
    return [1 + x % 10_000 for x in drawn(n, seed)]


def items(n, seed):
    return [item(x) for x in drawn(n, seed)]


def item(x):
    price_cents, quantity = 1 + x % 10_000, 1 + x % 9
    return {
        "id": x,
        "name": NAMES[x % 8],
        "price_cents": price_cents,
        "quantity": quantity,
        "in_stock": x % 3 == 0,
        "rating": {"stars": 1 + x % 5, "votes": x % 1_000},
        "total_cents": price_cents * quantity,
    }
