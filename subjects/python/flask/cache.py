"""Rows that this process keeps. Threads share them; several processes would not hear of each other's changes, so they keep none."""

import os
import threading
from concurrent.futures import Future

MOST = 512
keeps = os.environ["PROCESSES"] == "1"
kept = {}
lock = threading.Lock()


def cached(id, read):
    """A reading stands here before it begins. So a change always finds it and takes it out, however long it takes."""
    if not keeps:
        return read(id)
    with lock:
        reading = kept.get(id)
        is_first = reading is None
        if is_first:
            if len(kept) >= MOST:
                del kept[next(iter(kept))]
            reading = kept[id] = Future()
    if is_first:
        try:
            reading.set_result(read(id))
        except Exception as error:
            forget(id)
            reading.set_exception(error)
    return reading.result()


def forget(id):
    with lock:
        kept.pop(id, None)
