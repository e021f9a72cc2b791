"""One WebSocket as a pure state machine: messages in, a queue of events for each utterance out."""

from __future__ import annotations

import json
import uuid
from collections import deque
from typing import Any

from websockets.exceptions import ConnectionClosed

from ._errors import AuthError, BusyError, CutError, SwarError
from ._events import LAST, Audio, Event, Start, event_of


class Line:
    """What is going on on a connection. Audio belongs to the utterance that started last."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Event | SwarError]] = {}
        self._open: set[str] = set()  # whose last event has not come
        self._heard = ""
        self.lost: SwarError | None = None

    def begin(self, request_id: str | None) -> str:
        name = request_id or "py_" + uuid.uuid4().hex
        if name in self._waiting:
            raise ValueError(f"request_id {name!r} is in use on this connection")
        self._waiting[name] = deque()
        self._open.add(name)
        return name

    def forget(self, name: str) -> None:
        self._waiting.pop(name, None)

    def drop(self, name: str) -> None:
        """Forgets an utterance of which the server knows nothing."""
        self.forget(name)
        self._open.discard(name)

    def is_open(self, name: str) -> bool:
        return name in self._open

    @property
    def is_idle(self) -> bool:
        """Whether no utterance that somebody still reads is open. One that was left has been cleared."""
        return self._open.isdisjoint(self._waiting)

    def next(self, name: str) -> Event | SwarError | None:
        """The next event of an utterance, if it has come."""
        queue = self._waiting.get(name)
        if queue:
            return queue.popleft()
        if name in self._open and self.lost is not None:
            self._open.discard(name)
            return self.lost
        return None

    def feed(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self._put(Audio(self._heard, message))
            return
        decoded: dict[str, Any] = json.loads(message)
        event = event_of(decoded)
        if isinstance(event, Start):
            self._heard = event.request_id
        if isinstance(event, Event):
            self._put(event)
            if isinstance(event, LAST):
                self._open.discard(event.request_id)
        elif isinstance(event, SwarError):
            if event.request_id in self._waiting:
                self._waiting[event.request_id].append(event)
            self._open.discard(event.request_id)

    def _put(self, event: Event) -> None:
        if event.request_id in self._waiting:
            self._waiting[event.request_id].append(event)

    def close(self, e: ConnectionClosed) -> None:
        """Notes why the connection has ended: utterances that were open are cut."""
        code = e.rcvd.code if e.rcvd else 1006
        reason = e.rcvd.reason if e.rcvd else "the connection was lost"
        if code == 1008 and "key" in reason:
            self.lost = AuthError(reason, status=401, code="invalid_key")
        elif code == 1013:
            self.lost = BusyError(reason or "busy", status=503, code="busy")
        else:
            self.lost = CutError(f"the connection ended before the audio ({code} {reason})".rstrip(), code="cut")
