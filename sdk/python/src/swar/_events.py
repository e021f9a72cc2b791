"""What happens while an utterance is spoken. Times are seconds, places count code points of ``Start.normalized``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._errors import SwarError, error_of


@dataclass(frozen=True)
class Event:
    request_id: str


@dataclass(frozen=True)
class Start(Event):
    """A worker has begun to speak."""

    voice: str
    format: str
    normalized: str
    seed: int
    model: str
    unspoken: str


@dataclass(frozen=True)
class Chunk(Event):
    """A piece of the text begins."""

    chunk: int
    text: str
    audio_start_s: float
    char_start: int
    char_end: int


@dataclass(frozen=True)
class Audio(Event):
    """80 ms of audio at first, then up to 320 ms: s16le at 24 kHz unless another format was asked for."""

    pcm: bytes


@dataclass(frozen=True)
class FirstAudio(Event):
    """How long the first audio took on the server."""

    ms: float


@dataclass(frozen=True)
class Word:
    word: str
    char_start: int
    char_end: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Words(Event):
    """When each word of a chunk sounds."""

    chunk: int
    estimated: bool
    words: tuple[Word, ...]


@dataclass(frozen=True)
class ChunkEnd(Event):
    """A piece is complete."""

    chunk: int
    frames: int
    audio_s: float


@dataclass(frozen=True)
class Flushed(Event):
    """All text before a flush has been spoken."""

    audio_s: float
    char_end: int


@dataclass(frozen=True)
class End(Event):
    """The utterance is complete."""

    audio_s: float
    frames: int
    billed_frames: int
    seed: int


@dataclass(frozen=True)
class Cancelled(Event):
    """The utterance was stopped; ``chars_spoken`` says how far it was heard."""

    audio_s: float
    frames: int
    billed_frames: int
    chars_spoken: int


LAST = (End, Cancelled)


def event_of(m: dict[str, Any]) -> Event | SwarError | None:
    """Makes an event of a message; None of types that later servers may add."""
    rid = str(m.get("request_id", ""))
    match m.get("type"):
        case "start":
            return Start(
                rid, m.get("voice", ""), m.get("format", ""), m.get("normalized", ""), m.get("seed", 0), m.get("model", ""), m.get("unspoken", "")
            )
        case "chunk":
            return Chunk(rid, m["chunk"], m["text"], m["audio_start_s"], m["char_start"], m["char_end"])
        case "first_audio_ms":
            return FirstAudio(rid, m["ms"])
        case "words":
            words = tuple(Word(w["word"], w["char_start"], w["char_end"], w["start_s"], w["end_s"]) for w in m["words"])
            return Words(rid, m["chunk"], m.get("estimated", True), words)
        case "chunk_end":
            return ChunkEnd(rid, m["chunk"], m["frames"], m["audio_s"])
        case "flushed":
            return Flushed(rid, m["audio_s"], m["char_end"])
        case "end":
            return End(rid, m["audio_s"], m["frames"], m["billed_frames"], m.get("seed", 0))
        case "cancelled":
            return Cancelled(rid, m["audio_s"], m["frames"], m["billed_frames"], m["chars_spoken"])
        case "error":
            return error_of(m["error"], m["status"], m.get("code", ""), rid, m.get("retry_after"))
    return None
