#!/usr/bin/env python3
"""HttpArena's published results as a transcription: docs/audits/httparena.py CLONE > docs/audits/httparena.toml

CLONE is a clone of github.com/MDA2AV/HttpArena. Every record of site/data becomes a row, with its digits unchanged. Its scripts/lib
defines each profile's load generator and how many requests it keeps in flight on a connection.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# From endpoint_tool in scripts/lib/profiles.sh, and -m in scripts/lib/tools.
H2LOAD = {
    "baseline-h2": 100, "static-h2": 32, "baseline-h2c": 100, "json-h2c": 32, "gateway-64": 32,
    "unary-grpc": 100, "unary-grpc-tls": 100, "baseline-h3": 64, "static-h3": 64, "gateway-h3": 32,
    "production-stack": None,
}
WRK = {"static", "json-tls"}
GHZ = {"stream-grpc", "stream-grpc-tls"}
UNITS = {"us": "us", "ms": "ms", "s": "s", "KiB": "kib", "MiB": "mib", "GiB": "gib", "%": "percent"}


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def inline(pairs):
    return "{ " + ", ".join(f"{key} = {value}" for key, value in pairs) + " }"


def scenario(file, records):
    profile, connections = file.stem.rsplit("-", 1)
    duration, = {record["duration"] for record in records}
    pipeline, = {record["pipeline"] for record in records}
    pairs = [("name", quoted(file.stem)), ("connections", connections), ("duration", quoted(duration))]
    if profile in WRK:
        return inline([*pairs, ("tool", '"wrk"'), ("streams", 1)])
    if profile in H2LOAD:
        streams = H2LOAD[profile]
        closed = [("tool", '"h2load"'), ("loop", '"closed"')]
        return inline([*pairs, *closed, *([("streams", streams)] if streams else [])])
    if profile in GHZ:
        return inline([*pairs, ("tool", '"ghz"')])
    return inline([*pairs, ("tool", '"gcannon"'), ("loop", '"closed"'), ("streams", pipeline)])


def figure(stem, printed):
    found = re.fullmatch(r"([0-9.]+)([a-zA-Z%]+)", printed)
    return (f"{stem}_{UNITS[found[2]]}", found[1]) if found else ("#", f"{stem}: {printed}")


def row(file, record):
    pairs = [
        ("subject", quoted(record["framework"])),
        ("scenario", quoted(file.stem)),
        ("throughput_rps", record["rps"]),
        figure("latency_mean", record["avg_latency"]),
        figure("latency_p99", record["p99_latency"]),
        figure("cpu", record["cpu"]),
        figure("memory", record["memory"]),
        ("successes", record["status_2xx"]),
    ]
    failed = [(key, record[key]) for key in ("status_4xx", "status_5xx") if record[key]]
    if failed:
        pairs.append(("other", inline(failed)))
    unread = [value for key, value in pairs if key == "#"]
    comment = f"  # not read: {', '.join(unread)}" if unread else ""
    return inline(pair for pair in pairs if pair[0] != "#"), comment


def main(clone):
    commit = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    files = sorted(file for file in Path(clone, "site/data").glob("*-*.json"))
    all_of = [(file, json.loads(file.read_text())) for file in files]
    print('title = "HttpArena, all published results (29 April 2026)"')
    print('authors = "Diogo Martins and contributors"\nyear = 2026')
    print(f'url = "https://github.com/MDA2AV/HttpArena/tree/{commit.stdout[:10]}/site/data"')
    print(f"note = {quoted(NOTE)}")
    print("scenario = [")
    for file, records in all_of:
        if records:
            print(f"  {scenario(file, records)},")
    print("]\nrow = [")
    for file, records in all_of:
        for record in records:
            text, comment = row(file, record)
            print(f"  {text},{comment}")
    print("]")


NOTE = (
    "p99 is the mean in 308 rows (the scripts for wrk and h2load copy it), and `duration` is 5s where api, async-db and crud ran 10 s "
    "or 15 s: will the measured ones be printed?"
)

main(sys.argv[1])
