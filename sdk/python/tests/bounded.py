"""Bounds how long a test may take: one that hangs prints where it stands, and ends the run.

As a plugin of pytest (-p bounded) it bounds each test, and as a program a script: python bounded.py SCRIPT. SWAR_TEST_BOUND
is the bound in seconds. What is printed: the stacks of threads, what each task of asyncio awaits, and the goroutines of the
servers that the test has started.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import pytest

BOUND = float(os.environ.get("SWAR_TEST_BOUND", "120"))
EXPIRED = 124  # the status of a run that hung, as that of timeout(1)


@contextmanager
def bounded(what: str, seconds: float = BOUND) -> Iterator[None]:
    """Ends the process when the block takes longer than that, with what it waits for on the standard error."""
    errors = os.fdopen(os.dup(2), "w")  # not that which pytest keeps for itself
    over = threading.Event()

    def watch() -> None:
        if over.wait(seconds):
            return
        try:
            print(f"\n*** {what} hangs: it has taken {seconds:g} s ***", file=errors, flush=True)
            faulthandler.dump_traceback(errors)
            dump_tasks(errors)
            dump_servers(errors)
        finally:
            errors.flush()
            os._exit(EXPIRED)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def dump_tasks(to: TextIO) -> None:
    """Prints what each task of every event loop awaits, from its outermost function to the innermost."""
    for loop in [o for o in gc.get_objects() if issubclass(type(o), asyncio.AbstractEventLoop)]:
        for task in asyncio.all_tasks(loop) if not loop.is_closed() else ():
            print(f"task {task.get_name()}, asked {task.cancelling() if hasattr(task, 'cancelling') else '?'} times to end", file=to)
            for line in awaited(task.get_coro()):
                print("  " + line, file=to)


def awaited(waiting: Any) -> Iterator[str]:
    """Follows a coroutine through those that it awaits, to the future at the end."""
    while waiting is not None:
        kind = next((k for k in ("cr", "gi", "ag") if hasattr(waiting, k + "_frame")), "")
        if not kind:
            yield repr(waiting)
            return
        frame = getattr(waiting, kind + "_frame")
        if frame is not None:
            yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
        waiting = getattr(waiting, {"cr": "cr_await", "gi": "gi_yieldfrom", "ag": "ag_await"}[kind])


def dump_servers(to: TextIO) -> None:
    """Prints the last lines of the servers that run, and their goroutines."""
    serving = sys.modules.get("serving")
    for server in [o for o in gc.get_objects() if serving and type(o) is serving.Server]:
        print("".join(server.goroutines()), file=to)


if "pytest" in sys.modules:
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
        with bounded(item.nodeid):
            return (yield)


if __name__ == "__main__":
    script = sys.argv.pop(1)
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    with bounded(script):
        runpy.run_path(script, run_name="__main__")
