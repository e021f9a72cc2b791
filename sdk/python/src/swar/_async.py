"""The client for asyncio: the names of the blocking one."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.asyncio.client import ClientConnection, connect

from . import _core as core
from ._core import Format, Head, Normalized, Timestamps, Voice
from ._errors import SwarError, error_of_answer
from ._events import LAST, Audio, End, Event
from ._line import Line


class AsyncTake(core.Spoken):
    """One utterance, read as it is spoken. Leaving it early stops the server, and its bill."""

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yields audio as it comes. Ends with CutError where some is missing."""
        try:
            async for data in self._answer.aiter_raw():
                yield data
        except httpx.HTTPError as e:
            raise core.cut(self._head, e) from e
        finally:
            await self._answer.aclose()

    async def read(self) -> bytes:
        return b"".join([data async for data in self.iter_bytes()])

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes a file, which appears when it is complete."""
        file = core.Saving(path)
        try:
            async for data in self.iter_bytes():
                file.write(data)
            return file.finish()
        except BaseException:
            file.abandon()
            raise

    async def play(self) -> None:
        """Plays WAV or PCM with the package sounddevice, and returns at the end."""
        import sounddevice  # type: ignore[import-not-found,import-untyped,unused-ignore]

        with sounddevice.RawOutputStream(samplerate=core.SAMPLE_RATE, channels=1, dtype="int16") as out:
            left, first = b"", True
            async for data in self.iter_bytes():
                left += core.samples_of(data) if first else data
                first = False
                whole = len(left) & ~1
                await asyncio.to_thread(out.write, left[:whole])
                left = left[whole:]

    async def close(self) -> None:
        await self._answer.aclose()

    async def __aenter__(self) -> AsyncTake:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class AsyncUtterance:
    """One utterance on a socket. Iterate over it for its events; what happens to others waits for them."""

    def __init__(self, socket: AsyncSocket, line: Line, request_id: str, first: dict[str, Any]) -> None:
        self._socket, self._line, self.request_id, self._first = socket, line, request_id, first
        self._done = False

    async def append(self, text: str) -> None:
        """Feeds text; it is spoken sentence by sentence. Pieces are joined as they are: send the spaces too."""
        await self._send({"type": "append", "request_id": self.request_id, "text": text} | self._first)
        self._first = {}

    async def flush(self) -> None:
        """Speaks what was fed, also without the end of a sentence; a Flushed event follows its audio."""
        if self._first:
            await self.append("")
        await self._send({"type": "flush", "request_id": self.request_id})

    async def finish(self) -> None:
        """Says that no more text comes; an End event follows the rest."""
        if self._first:
            await self.append("")
        await self._send({"type": "finish", "request_id": self.request_id})

    async def clear(self) -> None:
        """Stops it within a frame; a Cancelled event says how much was heard, and billed."""
        if self._first:  # nothing was sent
            self._done = True
            self._line.drop(self.request_id)
        elif self._line.is_open(self.request_id):
            await self._send({"type": "cancel", "request_id": self.request_id})

    async def _send(self, message: dict[str, Any]) -> None:
        await self._socket._send(self._line, message)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if self._done:
            raise StopAsyncIteration
        try:
            event = await self._socket._next(self._line, self.request_id)
        except asyncio.CancelledError:  # nobody listens any more: stop the server, and its bill
            await asyncio.shield(self.leave())
            raise
        if isinstance(event, SwarError):
            self._end()
            raise event
        if isinstance(event, LAST):
            self._end()
        return event

    async def leave(self) -> None:
        """Clears it, if it is not over, without waiting for its last event. The socket is good for the next one at once."""
        if self._done:
            return
        await self.clear()
        self._end()
        self._socket._settle(self._line, self.request_id)

    def _end(self) -> None:
        self._done = True
        self._line.forget(self.request_id)

    async def read(self) -> bytes:
        """Reads all of it, and returns the audio."""
        return b"".join([e.pcm async for e in self if isinstance(e, Audio)])


class AsyncSocket:
    """One WebSocket for many utterances, which are spoken one after another. Reconnects between them, never inside one."""

    def __init__(self, client: AsyncSwar) -> None:
        self._client = client
        self._line = Line()
        self._connection: ClientConnection | None = None
        self._reading = asyncio.Lock()
        self._settling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Connects now, so that the first utterance does not wait for it."""
        await self._alive()

    async def _dial(self) -> ClientConnection:
        c, backoff = self._client, core.Backoff(self._client._retries)
        while True:
            try:
                return await connect(
                    core.socket_url(c.server), additional_headers=core.headers_of(c._key), user_agent_header=None, compression=None,
                    max_size=None, open_timeout=c._timeout, close_timeout=1,
                )
            except InvalidStatus as e:
                failed = error_of_answer(e.response.status_code, e.response.headers, e.response.body or b"")
            except (OSError, InvalidHandshake) as e:
                failed = core.unreached(c.server, e)
            wait = backoff.after(failed)
            if wait is None:
                raise failed
            await asyncio.sleep(wait)

    async def _alive(self) -> Line:
        """Returns the line, after connecting anew where the server or the network has ended the old one."""
        if self._line.lost is None and (self._settling or not self._line.is_idle):
            return self._line  # somebody reads it, and would keep this one waiting
        async with self._reading:
            if self._connection is None:
                self._connection = await self._dial()
            if self._line.is_idle and self._line.lost is None:
                await self._drain(self._connection)
            if self._line.lost is not None:
                self._line, self._connection = Line(), await self._dial()
            return self._line

    async def _drain(self, connection: ClientConnection) -> None:
        """Reads what has come while nobody asked, such as the server's farewell."""
        try:
            while True:
                self._line.feed(await asyncio.wait_for(connection.recv(), 0.001))  # asyncio.timeout came with 3.11
        except (TimeoutError, asyncio.TimeoutError):
            pass
        except ConnectionClosed as e:
            self._line.close(e)

    async def utterance(
        self, *, voice: str | None = None, format: Format | None = None, timestamps: Timestamps | None = None, seed: int | None = None,
        temperature: float | None = None, en_digits: bool = False, lexicon: str | None = None, request_id: str | None = None,
    ) -> AsyncUtterance:
        """Begins an utterance that is fed piece by piece."""
        line = await self._alive()
        first = core.fields(
            voice=voice, format=format, timestamps=timestamps, seed=seed, temperature=temperature, en_digits=en_digits, lexicon=lexicon,
        )
        return AsyncUtterance(self, line, line.begin(request_id), first or {"voice": None})

    async def say(
        self, text: str, *, voice: str | None = None, format: Format | None = None, timestamps: Timestamps | None = None,
        seed: int | None = None, temperature: float | None = None, raw: bool = False, en_digits: bool = False,
        lexicon: str | None = None, request_id: str | None = None,
    ) -> AsyncUtterance:
        """Speaks a whole text."""
        line = await self._alive()
        name = line.begin(request_id)
        u = AsyncUtterance(self, line, name, {})
        await self._send(line, {"type": "speak"} | core.fields(
            text=text, voice=voice, format=format, timestamps=timestamps, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits,
            lexicon=lexicon, request_id=name,
        ))
        return u

    async def _send(self, line: Line, message: dict[str, Any]) -> None:
        if line is self._line and line.lost is None and self._connection is not None:
            try:
                await self._connection.send(core.body_of(message).decode())
            except ConnectionClosed as e:
                line.close(e)

    async def _next(self, line: Line, name: str) -> Event | SwarError:
        while True:
            event = line.next(name)
            if event is not None:
                return event
            if not line.is_open(name):
                return SwarError(f"nothing more comes of {name}", code="over", request_id=name)
            async with self._reading:  # whoever waits reads for all
                event = line.next(name)
                if event is not None:
                    return event
                if line.is_open(name):
                    await self._receive(line)

    async def _receive(self, line: Line) -> None:
        if self._connection is not None:
            try:
                line.feed(await self._connection.recv())
            except ConnectionClosed as e:
                line.close(e)

    def _settle(self, line: Line, name: str) -> None:
        """Reads on in the background until what was cleared has ended: a connection that nobody reads answers no pings."""
        if line.is_open(name):
            task = asyncio.create_task(self._read_until_over(line, name))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def _read_until_over(self, line: Line, name: str) -> None:
        while True:
            async with self._reading:
                if line is not self._line or line.lost is not None or not line.is_open(name):
                    return
                await self._receive(line)

    async def close(self) -> None:
        """Ends the connection, and whatever it was speaking."""
        if self._connection is not None:
            await self._connection.close()
        await asyncio.gather(*self._settling)

    async def __aenter__(self) -> AsyncSocket:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class AsyncSwar:
    """A client of one server. Without arguments it takes SWAR_SERVER and SWAR_KEY from the environment.

    A request that the server was too busy for is sent again up to ``retries`` times, never after its first byte of audio.
    It belongs to one event loop.
    """

    def __init__(
        self, server: str | None = None, key: str | None = None, *, retries: int = 2, timeout: float = 120.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.server = core.address(server)
        self._key, self._retries, self._timeout = core.key_of(key), retries, timeout
        self._http = http or httpx.AsyncClient(timeout=httpx.Timeout(timeout, connect=10.0))

    async def _ask(self, method: str, path: str, sent: dict[str, Any] | None = None) -> httpx.Response:
        """Returns an answer of status 200 whose body has not been read."""
        backoff = core.Backoff(self._retries)
        body = core.body_of(sent) if sent is not None else None
        while True:
            request = self._http.build_request(method, self.server + path, content=body, headers=core.headers_of(self._key))
            try:
                answer = await self._http.send(request, stream=True)
                if answer.status_code == 200:
                    return answer
                failed = error_of_answer(answer.status_code, answer.headers, await answer.aread())
                await answer.aclose()
            except httpx.HTTPError as e:
                failed = core.unreached(self.server, e)
            wait = backoff.after(failed)
            if wait is None:
                raise failed
            await asyncio.sleep(wait)

    async def speak(
        self, text: str, *, voice: str | None = None, format: Format | None = None, seed: int | None = None,
        temperature: float | None = None, raw: bool = False, en_digits: bool = False, lexicon: str | None = None,
        request_id: str | None = None,
    ) -> AsyncTake:
        """Speaks a text; returns with the first 80 ms."""
        return AsyncTake(await self._ask("POST", "/v1/tts", core.fields(
            text=text, voice=voice, format=format, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits, lexicon=lexicon,
            request_id=request_id,
        )))

    async def words(
        self, text: str, *, voice: str | None = None, format: Format | None = None, seed: int | None = None,
        temperature: float | None = None, raw: bool = False, en_digits: bool = False, lexicon: str | None = None,
        request_id: str | None = None,
    ) -> AsyncIterator[Event]:
        """Speaks a text, and yields its audio with the time of each word. Leaving the loop stops the server."""
        answer = await self._ask("POST", "/v1/tts/words", core.fields(
            text=text, voice=voice, format=format, seed=seed, temperature=temperature, raw=raw, en_digits=en_digits, lexicon=lexicon,
            request_id=request_id,
        ))
        head = Head.of(answer.headers)
        try:
            try:
                async for line in answer.aiter_lines():
                    event = core.event_of_line(line, head)
                    if event is not None:
                        yield event
                    if isinstance(event, End):
                        return
            except httpx.HTTPError as e:
                raise core.cut(head, e) from e
        finally:
            await answer.aclose()
        raise core.cut(head)

    def connect(self) -> AsyncSocket:
        """Makes a WebSocket for conversations, which opens with its first utterance."""
        return AsyncSocket(self)

    async def voices(self) -> list[Voice]:
        """Lists the voices that the key may use."""
        answer = await self._ask("GET", "/v1/voices")
        return [Voice(v["name"], v["language"]) for v in json.loads(await answer.aread())["voices"]]

    async def normalize(self, text: str, *, en_digits: bool = False) -> Normalized:
        """Shows how a text will be read. It is free."""
        answer = await self._ask("POST", "/v1/normalize", core.fields(text=text, en_digits=en_digits))
        n = json.loads(await answer.aread())
        return Normalized(n["normalized"], tuple(c["text"] for c in n["chunks"]), n.get("unspoken", ""))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncSwar:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
