"""Django for the workloads of the benchmark."""

import hashlib
import json

from django.core.exceptions import BadRequest
from django.db import connection, transaction
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST, require_safe

from cache import cached, forget
from items import items, keys

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"
STOCK = "SELECT amount, id FROM stock WHERE id = %s"
PUT = "INSERT INTO stock (amount, id) VALUES (%s, %s) " + (
    "ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"
    if connection.vendor == "postgresql"
    else "ON DUPLICATE KEY UPDATE amount = VALUES(amount)"
)


# As in the contract: no spaces, no escapes, and decimals as strings.
def answer(value):
    return JsonResponse(value, safe=False, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


def whole(request, name, largest):
    value = request.GET.get(name, "")
    if not value.isdecimal() or not 1 <= int(value) <= largest:
        raise BadRequest
    return int(value)


# The tables are not Django models.
def ask(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]


@require_safe
def hello(request):
    return HttpResponse("<h1>Hello, World!</h1>")


@require_safe
def greeting(request):
    return answer({"message": "Hello, World!"})


@require_safe
def objects(request):
    return answer(items(whole(request, "n", 1_000), whole(request, "seed", 2_147_483_646)))


@csrf_exempt
@require_POST
def upload(request):
    return answer({"bytes": len(request.body), "sha256": hashlib.sha256(request.body).hexdigest()})


@require_safe
def rows(request):
    fields = request.GET.get("fields")
    if fields not in ("40", "50"):
        raise BadRequest
    return answer(ask(f"SELECT * FROM rows{fields}_text ORDER BY id LIMIT %s", whole(request, "limit", 10_000)))


@require_safe
def query(request):
    found = ask(BY_ID, whole(request, "id", 10_000))
    if not found:
        raise Http404
    return answer(found[0])


@require_safe
def queries(request):
    found = []
    for id in keys(whole(request, "n", 500), whole(request, "seed", 2_147_483_646)):
        found += ask(BY_ID, id)
    return answer(found)


@require_safe
def fortunes(request):
    add = request.GET.get("add", "")
    if not 1 <= len(add.encode()) <= 200:
        raise BadRequest
    rows = [*ask("SELECT id, message FROM fortune"), {"id": 0, "message": add}]
    return render(request, "fortunes.html", {"rows": sorted(rows, key=lambda row: row["message"])})


# Locking rows in the same order prevents deadlocks.
@csrf_exempt
@require_POST
def updates(request):
    ids = set(keys(whole(request, "n", 100), whole(request, "seed", 2_147_483_646)))
    changed = []
    with transaction.atomic(), connection.cursor() as cursor:
        for id in sorted(ids):
            cursor.execute("SELECT amount FROM stock WHERE id = %s FOR UPDATE", (id,))
            amount = cursor.fetchone()[0] + 1
            cursor.execute("UPDATE stock SET amount = %s WHERE id = %s", (amount, id))
            changed.append({"amount": amount, "id": id})
    return answer(changed)


def change(id, sql, *values):
    """Removes the row from the cache even if the change fails, because it may have been made."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
    finally:
        forget(id)


@method_decorator(csrf_exempt, name="dispatch")
class Crud(View):
    def get(self, request):
        rows = cached(stock_id(request), lambda id: ask(STOCK, id))
        if not rows:
            raise Http404
        return answer(rows[0])

    def put(self, request):
        id, amount = stock_id(request), sent_amount(request)
        change(id, PUT, amount, id)
        return answer({"amount": amount, "id": id})

    def delete(self, request):
        id = stock_id(request)
        change(id, "DELETE FROM stock WHERE id = %s", id)
        return HttpResponse(status=204)


def stock_id(request):
    return whole(request, "id", 1_000_000_000)


def sent_amount(request):
    try:
        amount = json.loads(request.body)["amount"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest from error
    if type(amount) is not int or not 0 <= amount <= 999_999_999:
        raise BadRequest
    return amount


urlpatterns = [
    path("hello", hello),
    path("json", greeting),
    path("items", objects),
    path("compressed", gzip_page(objects)),
    path("upload", upload),
    path("rows", rows),
    path("query", query),
    path("queries", queries),
    path("fortunes", fortunes),
    path("updates", updates),
    path("crud", Crud.as_view()),
]
