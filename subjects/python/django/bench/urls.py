"""Django for the workloads of the benchmark."""

from django.core.exceptions import BadRequest
from django.db import connection
from django.http import Http404, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

BY_ID = "SELECT * FROM rows40_text WHERE id = %s"


# As the contract has it: no blanks, no escapes, and decimals as texts.
def answer(value):
    return JsonResponse(value, safe=False, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


def whole(request, name, largest):
    value = request.GET.get(name, "")
    if not value.isdecimal() or not 1 <= int(value) <= largest:
        raise BadRequest
    return int(value)


# The tables are none of Django's models.
def ask(sql, value):
    with connection.cursor() as cursor:
        cursor.execute(sql, (value,))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]


@require_safe
def hello(request):
    return HttpResponse("<h1>Hello, World!</h1>")


@require_safe
def greeting(request):
    return answer({"message": "Hello, World!"})


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
    seed = whole(request, "seed", 2_147_483_646)
    found = []
    for _ in range(whole(request, "n", 500)):
        seed = seed * 16_807 % 2_147_483_647
        found += ask(BY_ID, 1 + seed % 10_000)
    return answer(found)


urlpatterns = [
    path("hello", hello),
    path("json", greeting),
    path("rows", rows),
    path("query", query),
    path("queries", queries),
]
