"""A real server for tests, also those of plugins: SWAR_TEST_BINARY is the program swar."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Server:
    def __init__(self, data: Path, port: int = 0) -> None:
        self.data = data
        self.process = subprocess.Popen(
            [os.environ["SWAR_TEST_BINARY"], "serve", "--engine", "espeak", "--portal", "off", "--api-key", "good", "--api-key",
             "only-raj=raj", "--workers", "2", "--oversubscribe", "--listen", f"127.0.0.1:{port}", "--data", str(data), "--log-format", "json"],
            stderr=subprocess.PIPE, text=True,
        )
        assert self.process.stderr
        self.lines: list[str] = []
        self.url = ""
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r'"msg":"ready","listen":"([^"]+)"', line):
                self.url = "http://" + found[1]
                break
        assert self.url, "".join(self.lines)
        self.collecting = threading.Thread(target=self._collect, daemon=True)
        self.collecting.start()

    def _collect(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def goroutines(self) -> list[str]:
        """Ends a server that hangs, and returns its last lines: those of its log, then where each goroutine stands."""
        if self.process.poll() is not None:
            return []
        before = len(self.lines)
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(20)
        self.collecting.join(20)
        return self.lines[max(0, before - 40):]

    def records(self, status: str | int, least: int = 1, within: float = 30) -> list[dict[str, Any]]:
        """Waits for so many lines of the log about requests that ended with a status, and returns them all."""
        return self._wait(lambda line: line.get("status") == status, least, within)

    def record(self, request_id: str, within: float = 30) -> dict[str, Any]:
        """Waits for the line of the log about one request."""
        found = self._wait(lambda line: line.get("request_id") == request_id, 1, within)
        assert found, f"request {request_id} is not in the log"
        return found[-1]

    def _wait(self, wanted: Callable[[dict[str, Any]], bool], least: int, within: float) -> list[dict[str, Any]]:
        until = time.monotonic() + within
        while True:
            lines = [json.loads(line) for line in list(self.lines)]
            found = [line for line in lines if line["msg"] == "request" and wanted(line)]
            if len(found) >= least or time.monotonic() > until:
                return found
            time.sleep(0.01)
