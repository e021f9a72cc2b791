"""With the real livekit-agents against a real server. hack/compat runs this."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from livekit import rtc
from livekit.agents import (
    Agent, AgentSession, APIConnectionError, APIConnectOptions, APIError, APIStatusError, Plugin, io, tts as agents_tts,
)
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT, TimedString
from livekit.plugins import swar
from serving import Server
from swar import Swar

ONCE = APIConnectOptions(max_retry=0, timeout=30)
ORDER = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."
LONG = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. " * 60  # minutes of speech, which take the engine seconds

T = TypeVar("T")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    s = Server(tmp_path_factory.mktemp("data"))
    yield s
    s.stop()


async def spoken(stream: AsyncIterator[agents_tts.SynthesizedAudio]) -> tuple[bytes, list[TimedString]]:
    pcm, words = b"", []
    async for audio in stream:
        assert audio.frame.sample_rate == 24000 and audio.frame.num_channels == 1
        pcm += bytes(audio.frame.data)
        words += audio.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
    return pcm, words


def running(test: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(test, 60))


def test_a_turn(server: Server) -> None:
    """Pieces as a language model sends them give the samples and the words of the whole text."""

    async def run() -> None:
        speech = swar.TTS(base_url=server.url, api_key="good", voice="raj", seed=7, lexicon="none")
        speech.prewarm()
        assert speech.capabilities.streaming and speech.capabilities.aligned_transcript
        stream = speech.stream(conn_options=ONCE)
        for letter in ORDER:
            stream.push_text(letter)
        stream.end_input()
        pcm, words = await spoken(stream)
        await stream.aclose()
        with Swar(server.url, "good") as s:
            whole = s.speak(ORDER, voice="raj", seed=7, format="pcm16").read()
        assert abs(len(pcm) - len(whole)) < 48000 // 4
        assert "".join(words) == ORDER
        starts = [w.start_time for w in words]
        assert starts == sorted(starts) and all(w.start_time <= w.end_time <= len(pcm) / 48000 for w in words)
        await speech.aclose()

    running(run())


def test_a_whole_text(server: Server) -> None:
    async def run() -> None:
        speech = swar.TTS(base_url=server.url, api_key="good", seed=7)
        pcm, _ = await spoken(speech.synthesize(ORDER))
        with Swar(server.url, "good") as s:
            whole = s.speak(ORDER, seed=7, format="pcm16").read()
        assert pcm[:len(whole)] == whole and not pcm[len(whole):].strip(b"\0")  # LiveKit adds 10 ms
        await speech.aclose()

    running(run())


def test_barge_in_stops_the_bill(server: Server) -> None:
    """The language model has ended long ago. The server stops within 200 ms, and the socket lives on.

    Each time the server is told before aclose returns. Most of ten times must be so short: a machine that does other work
    delays us, too.
    """

    async def run() -> None:
        speech, took = swar.TTS(base_url=server.url, api_key="good"), []
        for _ in range(10):
            stream = speech.stream(conn_options=ONCE)
            stream.push_text(LONG)
            stream.end_input()
            first = await stream.__anext__()
            connection = speech._socket._connection
            sent: list[str] = []
            send = connection.send

            async def note(message: Any, *, to: Any = send, all: list[str] = sent) -> None:
                await to(message)
                all.append(json.loads(message)["type"])

            connection.send = note
            interrupted = time.time()
            await stream.aclose()
            connection.send = send
            assert sent == ["cancel"], sent
            record = await asyncio.to_thread(server.record, first.request_id)
            took.append(datetime.fromisoformat(record["time"]).timestamp() - interrupted)
            assert record["status"] == "cancelled" and 0 < record["frames"] < len(LONG) / 20 * 12.5, record
        assert sorted(took)[len(took) // 2] < 0.2, took
        stream = speech.stream(conn_options=ONCE)
        stream.push_text("Namaste!")
        stream.end_input()
        pcm, words = await spoken(stream)
        assert len(pcm) > 3840 and "".join(words) == "Namaste!" and speech._socket._connection is connection
        await speech.aclose()

    running(run())


def test_barge_in_while_the_model_writes(server: Server) -> None:
    async def run() -> None:
        speech = swar.TTS(base_url=server.url, api_key="good")
        stream = speech.stream(conn_options=ONCE)
        stream.push_text("Namaste! Aapka order ")
        first = await stream.__anext__()
        await stream.aclose()
        assert (await asyncio.to_thread(server.record, first.request_id))["status"] == "cancelled"
        await speech.aclose()

    running(run())


class Speaker(io.AudioOutput):
    """Plays in no time, and notes what it was given."""

    def __init__(self) -> None:
        super().__init__(label="test", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24000)
        self.heard = asyncio.Event()
        self.cleared = 0

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        self.heard.set()

    def flush(self) -> None:
        super().flush()

    def clear_buffer(self) -> None:
        self.cleared += 1
        self.on_playback_finished(playback_position=0.1, interrupted=True)


def test_a_session_is_interrupted(server: Server) -> None:
    """The same through AgentSession, as when a caller begins to speak."""

    async def run() -> None:
        speech, speaker, took = swar.TTS(base_url=server.url, api_key="good"), Speaker(), []
        session: AgentSession[None] = AgentSession(tts=speech)
        session.output.audio = speaker
        await session.start(Agent(instructions="Say it."))
        for _ in range(10):
            before = len(server.records("cancelled", 0))
            speaker.heard.clear()
            said = session.say(LONG)
            await speaker.heard.wait()
            interrupted = time.time()
            said.interrupt(force=True)
            cancelled = await asyncio.to_thread(server.records, "cancelled", before + 1)
            assert len(cancelled) == before + 1
            took.append(datetime.fromisoformat(cancelled[-1]["time"]).timestamp() - interrupted)
            await said
        assert sorted(took)[len(took) // 2] < 0.2, took
        await session.aclose()
        await speech.aclose()

    running(run())


def test_failures(server: Server) -> None:
    async def failing(speech: swar.TTS, kind: type[APIError], text: str = "Namaste!") -> list[APIError]:
        failed = []
        stream = speech.stream(conn_options=ONCE)
        stream.push_text(text)
        stream.end_input()
        for reading in (stream, speech.synthesize(text, conn_options=ONCE)):
            with pytest.raises(kind) as e:
                await spoken(reading)
            failed.append(e.value)
        await speech.aclose()
        return failed

    async def run() -> None:
        for e in await failing(swar.TTS(base_url=server.url, api_key="wrong"), APIStatusError):
            assert isinstance(e, APIStatusError) and e.status_code == 401 and not e.retryable and e.request_id
        for e in await failing(swar.TTS(base_url=server.url, api_key="good", voice="kaun"), APIStatusError):
            assert isinstance(e, APIStatusError) and e.status_code == 400 and not e.retryable and "kaun" in e.message and e.request_id
        for e in await failing(swar.TTS(base_url=server.url, api_key="good"), APIStatusError, "a" * 4001):
            assert isinstance(e, APIStatusError) and e.status_code == 413 and not e.retryable
        for e in await failing(swar.TTS(base_url="127.0.0.1:1", api_key="good"), APIConnectionError):
            assert e.retryable

    running(run())


def test_nothing_to_say_is_no_failure(server: Server) -> None:
    async def run() -> None:
        speech = swar.TTS(base_url=server.url, api_key="good")
        stream = speech.stream(conn_options=ONCE)
        stream.push_text("🙂")
        stream.end_input()
        pcm, words = await spoken(stream)
        assert not pcm.strip(b"\0") and words == []
        stream = speech.stream(conn_options=ONCE)  # no text at all
        stream.end_input()
        await spoken(stream)
        await speech.aclose()

    running(run())


def test_twenty_at_once(server: Server) -> None:
    async def one(speech: swar.TTS) -> int:
        stream = speech.stream()
        stream.push_text("Namaste!")
        stream.end_input()
        pcm, _ = await spoken(stream)
        return len(pcm)

    async def run() -> None:
        speech = swar.TTS(base_url=server.url, api_key="good")
        assert all(n > 3840 for n in await asyncio.gather(*[one(speech) for _ in range(20)]))
        await speech.aclose()

    running(run())


def test_reconnects(tmp_path: Path) -> None:
    async def run() -> None:
        first = Server(tmp_path)
        speech = swar.TTS(base_url=first.url, api_key="good")
        for restart in (True, False):
            stream = speech.stream(conn_options=ONCE)
            stream.push_text("Namaste!")
            stream.end_input()
            assert len((await spoken(stream))[0]) > 3840
            if restart:
                await asyncio.to_thread(first.stop)
                first = Server(tmp_path, first.port)
        await speech.aclose()
        first.stop()

    running(run())


def test_it_is_a_plugin() -> None:
    assert "livekit.plugins.swar" in [p.package for p in Plugin.registered_plugins]
    speech = swar.TTS(base_url="127.0.0.1:1", voice="anjura")
    speech.update_options(voice="raj")
    assert speech._options.voice == "raj" and speech.provider == "Swar"
