"""What the blocking and the asyncio client share: requests, retries, files. No input or output but of files."""

from __future__ import annotations

import base64
import json
import os
import random
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from ._errors import CutError, SwarError
from ._events import Audio, Event, event_of

Format = Literal["wav", "pcm16", "opus"]
Timestamps = Literal["words", "none"]

SAMPLE_RATE = 24000
DEFAULT_SERVER = "http://127.0.0.1:8080"
USER_AGENT = "swar-client-python"
_WAV_HEADER = 44
_REPEATED = {408, 429, 500, 503}


@dataclass(frozen=True)
class Voice:
    name: str
    language: str


@dataclass(frozen=True)
class Normalized:
    """A text as it is spoken, and the pieces in which it is."""

    text: str
    chunks: tuple[str, ...]
    unspoken: str


def address(server: str | None) -> str:
    """Returns the base of all URLs: ``tts.example.com`` becomes ``https://tts.example.com``, loopback is HTTP."""
    given = (server or os.environ.get("SWAR_SERVER") or DEFAULT_SERVER).strip()
    if "://" not in given:
        host = given.split("/")[0].rsplit(":", 1)[0].strip("[]")
        near = host in ("localhost", "::1") or host.startswith("127.")
        given = ("http://" if near else "https://") + given
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"server {server!r}: want an address such as https://tts.example.com")
    return given.rstrip("/")


def key_of(key: str | None) -> str:
    return key if key is not None else os.environ.get("SWAR_KEY", "")


def headers_of(key: str) -> dict[str, str]:
    headers = {"User-Agent": USER_AGENT}
    if key:
        headers["x-api-key"] = key
    return headers


def socket_url(base: str) -> str:
    parts = urlsplit(base)
    scheme = {"http": "ws", "https": "wss"}[parts.scheme]
    return urlunsplit((scheme, parts.netloc, parts.path + "/v1/tts/stream", "", ""))


def fields(**given: Any) -> dict[str, Any]:
    """Leaves out what was not given, so that the server's defaults hold."""
    return {name: value for name, value in given.items() if value is not None and value is not False}


def body_of(fields: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("text: half of a surrogate pair; it is no Unicode text") from None


class Backoff:
    """Says whether a request that failed before its first byte is sent again, and after how many seconds."""

    def __init__(self, retries: int) -> None:
        self._left = retries

    def after(self, e: SwarError) -> float | None:
        if self._left <= 0 or not (e.status in _REPEATED or (e.status == 0 and not isinstance(e, CutError))):
            return None
        self._left -= 1
        return (e.retry_after if e.retry_after is not None else 0.2) + random.uniform(0, 0.25)


@dataclass(frozen=True)
class Head:
    """What the headers of an answer say."""

    request_id: str
    seed: int
    voice: str
    model: str
    content_type: str
    unspoken: str

    @classmethod
    def of(cls, h: httpx.Headers) -> Head:
        return cls(
            h.get("x-request-id", ""), int(h.get("x-seed", "0")), h.get("x-voice", ""), h.get("x-model", ""), h.get("content-type", ""),
            unquote(h.get("x-unspoken", "")),
        )


class Spoken:
    """What an answer with audio says of itself."""

    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer
        self._head = Head.of(answer.headers)

    @property
    def request_id(self) -> str:
        return self._head.request_id

    @property
    def seed(self) -> int:
        """Speaks the same again."""
        return self._head.seed

    @property
    def voice(self) -> str:
        return self._head.voice

    @property
    def model(self) -> str:
        return self._head.model

    @property
    def content_type(self) -> str:
        return self._head.content_type

    @property
    def unspoken(self) -> str:
        """Characters that the model cannot speak and left out."""
        return self._head.unspoken


def unreached(base: str, e: Exception) -> SwarError:
    return SwarError(f"no server answers at {base}: {e or type(e).__name__}", code="unreachable")


def cut(head: Head, e: Exception | None = None) -> CutError:
    return CutError("the audio was cut off before its end" + (f": {e}" if e else ""), code="cut", request_id=head.request_id)


class Saving:
    """A file that appears under its name when it is complete."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        fd, name = tempfile.mkstemp(prefix=f".{self._path.name}.", suffix=".part", dir=self._path.parent)
        self._file, self._name = os.fdopen(fd, "w+b"), name

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def finish(self) -> Path:
        size = self._file.tell()
        self._file.seek(0)
        head = self._file.read(_WAV_HEADER)
        if len(head) == _WAV_HEADER and head[:4] == b"RIFF" and head[36:40] == b"data":  # a streamed WAV does not know its length
            self._file.seek(4)
            self._file.write(struct.pack("<I", size - 8))
            self._file.seek(40)
            self._file.write(struct.pack("<I", size - _WAV_HEADER))
        self._file.close()
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._name, 0o666 & ~mask)
        os.replace(self._name, self._path)
        return self._path

    def abandon(self) -> None:
        self._file.close()
        if os.path.exists(self._name):
            os.unlink(self._name)


def samples_of(audio: bytes) -> bytes:
    """Returns the bare samples of a WAV that this client has read whole."""
    return audio[_WAV_HEADER:] if audio[:4] == b"RIFF" else audio


def event_of_line(line: str, head: Head) -> Event | None:
    """Reads a line of ``/v1/tts/words``, whose audio is base64."""
    if not line:
        return None
    message = json.loads(line)
    if message.get("type") == "audio":
        return Audio(message["request_id"], base64.b64decode(message["audio"]))
    event = event_of(message)
    if isinstance(event, SwarError):
        raise event
    return event
