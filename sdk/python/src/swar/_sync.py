"""The blocking client."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from . import _core as core
from ._core import Format, Head, Normalized, Timestamps, Voice
from ._errors import SwarError, error_of_answer
from ._events import LAST, Audio, End, Event
from ._line import Line


class Take(core.Spoken):
    """One utterance, read as it is spoken. Leaving it early stops the server, and its bill."""

    def iter_bytes(self) -> Iterator[bytes]:
        """Yields audio as it comes. Ends with CutError where some is missing."""
        try:
            yield from self._answer.iter_raw()
        except httpx.HTTPError as e:
            raise core.cut(self._head, e) from e
        finally:
            self._answer.close()

    def read(self) -> bytes:
        return b"".join(self.iter_bytes())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes a file, which appears when it is complete."""
        file = core.Saving(path)
        try:
            for data in self.iter_bytes():
                file.write(data)
            return file.finish()
        except BaseException:
            file.abandon()
            raise

    def play(self) -> None:
        """Plays WAV or PCM with the package sounddevice, and returns at the end."""
        import sounddevice  # type: ignore[import-not-found,import-untyped,unused-ignore]

        with sounddevice.RawOutputStream(samplerate=core.SAMPLE_RATE, channels=1, dtype="int16") as out:
            left, first = b"", True
            for data in self.iter_bytes():
                left += core.samples_of(data) if first else data
                first = False
                whole = len(left) & ~1
                out.write(left[:whole])
                left = left[whole:]

    def close(self) -> None:
        self._answer.close()

    def __enter__(self) -> Take:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Utterance:
    """One utterance on a socket. Iterate over it for its events; what happens to others waits for them."""

    def __init__(self, socket: Socket, line: Line, request_id: str, first: dict[str, Any]) -> None:
        self._socket, self._line, self.request_id, self._first = socket, line, request_id, first
        self._done = False

    def append(self, text: str) -> None:
        """Feeds text; it is spoken sentence by sentence. Pieces are joined as they are: send the spaces too."""
        self._send({"type": "append", "request_id": self.request_id, "text": text} | self._first)
        self._first = {}

    def flush(self) -> None:
        """Speaks what was fed, also without the end of a sentence; a Flushed event follows its audio."""
        if self._first:
            self.append("")
        self._send({"type": "flush", "request_id": self.request_id})

    def finish(self) -> None:
        """Says that no more text comes; an End event follows the rest."""
        if self._first:
            self.append("")
        self._send({"type": "finish", "request_id": self.request_id})

    def clear(self) -> None:
        """Stops it within a frame; a Cancelled event says how much was heard, and billed."""
        if self._first:  # nothing was sent
            self._done = True
            self._line.drop(self.request_id)
        elif self._line.is_open(self.request_id):
            self._send({"type": "cancel", "request_id": self.request_id})

    def _send(self, message: dict[str, Any]) -> None:
        self._socket._send(self._line, message)

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        if self._done:
            raise StopIteration
        event = self._socket._next(self._line, self.request_id)
        if isinstance(event, SwarError):
            self._end()
            raise event
        if isinstance(event, LAST):
            self._end()
        return event

    def _end(self) -> None:
        self._done = True
        self._line.forget(self.request_id)

    def read(self) -> bytes:
        """Reads all of it, and returns the audio."""
        return b"".join(e.pcm for e in self if isinstance(e, Audio))


class Socket:
    """One WebSocket for many utterances, which are spoken one after another. Reconnects between them, never inside one."""

    def __init__(self, client: Swar) -> None:
        self._client = client
        self._line = Line()
        self._open = ExitStack()
        self._connection = self._dial()

    def _dial(self) -> ClientConnection:
        c, backoff = self._client, core.Backoff(self._client._retries)
        while True:
            try:
                self._open.close()
                return self._open.enter_context(connect(
                    core.socket_url(c.server), additional_headers=core.headers_of(c._key), user_agent_header=None, compression=None,
                    max_size=None, open_timeout=c._timeout, close_timeout=1,
                ))
            except InvalidStatus as e:
                failed = error_of_answer(e.response.status_code, e.response.headers, e.response.body or b"")
            except (OSError, InvalidHandshake) as e:
                failed = core.unreached(c.server, e)
            wait = backoff.after(failed)
            if wait is None:
                raise failed
            time.sleep(wait)

    def _alive(self) -> Line:
        """Returns the line, after connecting anew where the server or the network has ended the old one."""
        if self._line.is_idle and self._line.lost is None:
            self._drain()
        if self._line.lost is not None:
            self._line, self._connection = Line(), self._dial()
        return self._line

    def _drain(self) -> None:
        """Reads what has come while nobody asked, such as the server's farewell."""
        try:
            while True:
                self._line.feed(self._connection.recv(timeout=0))
        except TimeoutError:
            pass
        except ConnectionClosed as e:
            self._line.close(e)

    def utterance(
        self, *, voice: str | None = None, format: Format | None = None, timestamps: Timestamps | None = None, seed: int | None = None,
        temperature: float | None = None, en_digits: bool = False, lexicon: str | None = None, request_id: str | None = None,
    ) -> Utterance:
        """Begins an utterance that is fed piece by piece."""
        line = self._alive()
        first = core.fields(
            voice=voice, format=format, timestamps=timestamps, seed=seed, temperature=temperature, en_digits=en_digits, lexicon=lexicon,
        )
        return Utterance(self, line, line.begin(request_id), first or {"voice": None})

    def say(
        self, text: str, *, voice: str | None = None, format: Format | None = None, timestamps: Timestamps | None = None,
        seed: int | None = None, temperature: float | None = None, raw: bool = False, en_digits: bool = False,
        lexicon: str | None = None, request_id: str | None = None,
    ) -> Utterance:
        """Speaks a whole text."""
        line = self._alive()
        name = line.begin(request_id)
        u = Utterance(self, line, name, {})
        self._send(line, {"type": "speak"} | core.fields(
            text=text, voice=voice, format=format, timestamps=timestamps, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits,
            lexicon=lexicon, request_id=name,
        ))
        return u

    def _send(self, line: Line, message: dict[str, Any]) -> None:
        if line is self._line and line.lost is None:
            try:
                self._connection.send(core.body_of(message).decode())
            except ConnectionClosed as e:
                line.close(e)

    def _next(self, line: Line, name: str) -> Event | SwarError:
        while True:
            event = line.next(name)
            if event is not None:
                return event
            if not line.is_open(name):
                return SwarError(f"nothing more comes of {name}", code="over", request_id=name)
            try:
                line.feed(self._connection.recv())
            except ConnectionClosed as e:
                line.close(e)

    def close(self) -> None:
        """Ends the connection, and whatever it was speaking."""
        self._open.close()

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Swar:
    """A client of one server. Without arguments it takes SWAR_SERVER and SWAR_KEY from the environment.

    A request that the server was too busy for is sent again up to ``retries`` times, never after its first byte of audio.
    It may be used by several threads.
    """

    def __init__(
        self, server: str | None = None, key: str | None = None, *, retries: int = 2, timeout: float = 120.0,
        http: httpx.Client | None = None,
    ) -> None:
        self.server = core.address(server)
        self._key, self._retries, self._timeout = core.key_of(key), retries, timeout
        self._http = http or httpx.Client(timeout=httpx.Timeout(timeout, connect=10.0))

    def _ask(self, method: str, path: str, sent: dict[str, Any] | None = None) -> httpx.Response:
        """Returns an answer of status 200 whose body has not been read."""
        backoff = core.Backoff(self._retries)
        body = core.body_of(sent) if sent is not None else None
        while True:
            request = self._http.build_request(method, self.server + path, content=body, headers=core.headers_of(self._key))
            try:
                answer = self._http.send(request, stream=True)
                if answer.status_code == 200:
                    return answer
                with closing(answer):
                    failed = error_of_answer(answer.status_code, answer.headers, answer.read())
            except httpx.HTTPError as e:
                failed = core.unreached(self.server, e)
            wait = backoff.after(failed)
            if wait is None:
                raise failed
            time.sleep(wait)

    def speak(
        self, text: str, *, voice: str | None = None, format: Format | None = None, seed: int | None = None,
        temperature: float | None = None, raw: bool = False, en_digits: bool = False, lexicon: str | None = None,
        request_id: str | None = None,
    ) -> Take:
        """Speaks a text; returns with the first 80 ms."""
        return Take(self._ask("POST", "/v1/tts", core.fields(
            text=text, voice=voice, format=format, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits, lexicon=lexicon,
            request_id=request_id,
        )))

    def words(
        self, text: str, *, voice: str | None = None, format: Format | None = None, seed: int | None = None,
        temperature: float | None = None, raw: bool = False, en_digits: bool = False, lexicon: str | None = None,
        request_id: str | None = None,
    ) -> Iterator[Event]:
        """Speaks a text, and yields its audio with the time of each word. Leaving the loop stops the server."""
        answer = self._ask("POST", "/v1/tts/words", core.fields(
            text=text, voice=voice, format=format, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits, lexicon=lexicon,
            request_id=request_id,
        ))
        head = Head.of(answer.headers)
        with closing(answer):
            try:
                for line in answer.iter_lines():
                    event = core.event_of_line(line, head)
                    if event is not None:
                        yield event
                    if isinstance(event, End):
                        return
            except httpx.HTTPError as e:
                raise core.cut(head, e) from e
        raise core.cut(head)

    def connect(self) -> Socket:
        """Opens a WebSocket for conversations."""
        return Socket(self)

    def voices(self) -> list[Voice]:
        """Lists the voices that the key may use."""
        with closing(self._ask("GET", "/v1/voices")) as answer:
            return [Voice(v["name"], v["language"]) for v in json.loads(answer.read())["voices"]]

    def normalize(self, text: str, *, en_digits: bool = False) -> Normalized:
        """Shows how a text will be read. It is free."""
        with closing(self._ask("POST", "/v1/normalize", core.fields(text=text, en_digits=en_digits))) as answer:
            n = json.loads(answer.read())
        return Normalized(n["normalized"], tuple(c["text"] for c in n["chunks"]), n.get("unspoken", ""))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Swar:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
