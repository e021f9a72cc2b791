#
# Copyright (c) 2026, The Swar Authors
#
# SPDX-License-Identifier: BSD-2-Clause
#

"""With the real Pipecat against a real server. hack/compat runs this."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames.frames import (
    EndFrame, ErrorFrame, Frame, InterruptionFrame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame, StartFrame,
    TTSAudioRawFrame, TTSSpeakFrame, TTSStartedFrame, TTSStoppedFrame, TTSTextFrame, TTSUpdateSettingsFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.tts_service import TTSService
from pipecat.workers.runner import WorkerRunner
from pipecat_swar import SwarHttpTTSService, SwarTTSService
from serving import Server
from swar import Swar

ORDER = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."
LONG = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. " * 60  # minutes of speech, which take the engine seconds


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    s = Server(tmp_path_factory.mktemp("data"))
    yield s
    s.stop()


class Ear(FrameProcessor):
    """Notes what leaves the service in one direction."""

    def __init__(self, noted: FrameDirection) -> None:
        super().__init__(enable_direct_mode=True)
        self.noted = noted
        self.frames: list[Frame] = []
        self.came = asyncio.Condition()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction == self.noted:
            async with self.came:
                self.frames.append(frame)
                self.came.notify_all()
        await self.push_frame(frame, direction)

    async def wait(self, kind: type[Frame], number: int = 1) -> None:
        async with self.came:
            await asyncio.wait_for(self.came.wait_for(lambda: len(self.all(kind)) >= number), 60)

    def all(self, kind: type[Any]) -> list[Any]:
        return [f for f in self.frames if isinstance(f, kind)]

    @property
    def seconds(self) -> float:
        return sum(len(f.audio) / 2 / f.sample_rate for f in self.all(TTSAudioRawFrame))

    @property
    def words(self) -> list[str]:
        return [f.text for f in self.all(TTSTextFrame)]


def conversation(tts: TTSService, script: Callable[[Callable[..., Awaitable[None]], Ear, Ear], Awaitable[None]]) -> None:
    """Runs a pipeline of the service, while the script sends frames and waits for what comes down and up.

    When the script fails, the pipeline is cancelled by its own method and has ended before anything is raised: a runner
    whose tasks are cancelled from outside, as asyncio.run does, waits for ever, and hides what has failed.
    """

    async def run() -> None:
        down, up = Ear(FrameDirection.DOWNSTREAM), Ear(FrameDirection.UPSTREAM)
        worker = PipelineWorker(Pipeline([up, tts, down]), cancel_on_idle_timeout=False)

        async def send(*frames: Frame) -> None:
            for frame in frames:
                await worker.queue_frame(frame)

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        try:
            async with asyncio.timeout(90):
                await down.wait(StartFrame)
                await script(send, down, up)
        except BaseException:
            await worker.cancel()
            raise
        else:
            await send(EndFrame())
        finally:
            await running

    asyncio.run(run())


def turn(*pieces: str) -> list[Frame]:
    return [LLMFullResponseStartFrame(), *map(LLMTextFrame, pieces), LLMFullResponseEndFrame()]


def pieces(text: str) -> list[str]:
    return [text[i:i + 3] for i in range(0, len(text), 3)]


def test_a_turn(server: Server) -> None:
    """Pieces as a language model sends them sound as the whole text, and its words come as they were written."""

    async def script(send: Any, down: Ear, up: Ear) -> None:
        await send(*turn(*pieces(ORDER)))
        await down.wait(TTSStoppedFrame)
        assert [type(f) for f in down.frames if isinstance(f, (TTSStartedFrame, TTSStoppedFrame))] == [TTSStartedFrame, TTSStoppedFrame]
        with Swar(server.url, "good") as s:
            whole = s.speak(ORDER, voice="raj", seed=7, format="pcm16").read()
        assert abs(down.seconds - len(whole) / 48000) < 0.25
        assert " ".join(down.words) == ORDER
        times = [f.pts for f in down.all(TTSTextFrame)]
        assert times == sorted(times) and all(times)
        assert len({f.context_id for f in down.all(TTSAudioRawFrame)}) == 1 and not up.all(ErrorFrame)

    settings = SwarTTSService.Settings(voice="raj", seed=7)
    conversation(SwarTTSService(base_url=server.url, api_key="good", settings=settings), script)


def test_devanagari_is_cut_anywhere(server: Server) -> None:
    text = "नमस्ते! आपका ओटीपी 482913 है। धन्यवाद।"

    async def script(send: Any, down: Ear, up: Ear) -> None:
        await send(*turn(*text))
        await down.wait(TTSStoppedFrame)
        assert " ".join(down.words) == text and not up.all(ErrorFrame)

    conversation(SwarTTSService(base_url=server.url, api_key="good"), script)


def test_an_interruption_stops_the_bill(server: Server) -> None:
    """The language model has ended long ago. The server stops within 200 ms, and the connection stays.

    Most of ten times must be so short: a machine that does other work delays us, too.
    """
    tts = SwarTTSService(base_url=server.url, api_key="good")
    took: list[float] = []

    async def script(send: Any, down: Ear, up: Ear) -> None:
        connection = tts._websocket
        for n in range(1, 11):
            heard = len(down.all(TTSAudioRawFrame))
            await send(*turn(LONG))
            await down.wait(TTSAudioRawFrame, heard + 1)
            interrupted = time.time()
            await send(InterruptionFrame())
            record = await asyncio.to_thread(server.record, down.all(TTSAudioRawFrame)[heard].context_id)
            took.append(datetime.fromisoformat(record["time"]).timestamp() - interrupted)
            assert record["status"] == "cancelled" and 0 < record["frames"] < len(LONG) / 20 * 12.5, record
            await down.wait(InterruptionFrame, n)
        heard, stopped = len(down.all(TTSAudioRawFrame)), len(down.all(TTSStoppedFrame))
        await send(*turn("Namaste!"))
        await down.wait(TTSStoppedFrame, stopped + 1)
        assert len(down.all(TTSAudioRawFrame)) > heard and down.words[-1] == "Namaste!" and tts._websocket is connection
        assert not up.all(ErrorFrame)

    conversation(tts, script)
    assert sorted(took)[len(took) // 2] < 0.2, took


def test_sentences_and_greetings(server: Server) -> None:
    """A TTSSpeakFrame is a turn of its own, behind the one before it."""

    async def script(send: Any, down: Ear, up: Ear) -> None:
        await send(TTSSpeakFrame("Namaste!"), TTSSpeakFrame("Aapka order kal aayega."))
        await down.wait(TTSStoppedFrame, 2)
        assert " ".join(down.words) == "Namaste! Aapka order kal aayega." and not up.all(ErrorFrame)

    conversation(SwarTTSService(base_url=server.url, api_key="good"), script)


def test_settings_change_within_a_turn(server: Server) -> None:
    async def script(send: Any, down: Ear, up: Ear) -> None:
        delta = SwarTTSService.Settings(voice="raj")
        await send(LLMFullResponseStartFrame(), LLMTextFrame("Main anjura hoon. "), TTSUpdateSettingsFrame(delta=delta))
        await send(LLMTextFrame("Main raj hoon."), LLMFullResponseEndFrame())
        await down.wait(TTSStoppedFrame, 2)
        assert " ".join(down.words) == "Main anjura hoon. Main raj hoon." and not up.all(ErrorFrame)
        records = [await asyncio.to_thread(server.record, f.context_id) for f in down.all(TTSStartedFrame)]
        assert [(r["voice"], r["status"]) for r in records] == [("anjura", 200), ("raj", 200)]

    conversation(SwarTTSService(base_url=server.url, api_key="good"), script)


def test_nothing_to_say_is_no_failure(server: Server) -> None:
    async def script(send: Any, down: Ear, up: Ear) -> None:
        for n in range(1, 5):
            await send(*turn("🙂"))
            await down.wait(TTSStoppedFrame, n)
        assert not up.all(ErrorFrame)

    conversation(SwarTTSService(base_url=server.url, api_key="good"), script)
    conversation(SwarHttpTTSService(base_url=server.url, api_key="good"), script)


@pytest.mark.parametrize("service", [SwarTTSService, SwarHttpTTSService])
def test_failures_are_told(server: Server, service: type[SwarTTSService] | type[SwarHttpTTSService]) -> None:
    async def script(send: Any, down: Ear, up: Ear) -> None:
        await send(*turn("Namaste!"))
        await up.wait(ErrorFrame)
        assert want in str(up.all(ErrorFrame)[0].error)

    for want, key, voice in (("401", "wrong", None), ("kaun", "good", "kaun")):
        conversation(service(base_url=server.url, api_key=key, settings=service.Settings(voice=voice)), script)


def test_it_connects_again(tmp_path: Path) -> None:
    first = Server(tmp_path)

    async def script(send: Any, down: Ear, up: Ear) -> None:
        nonlocal first
        await send(*turn("Namaste!"))
        await down.wait(TTSStoppedFrame)
        await asyncio.to_thread(first.stop)
        first = await asyncio.to_thread(Server, tmp_path, first.port)
        await send(*turn("Namaste!"))
        await down.wait(TTSStoppedFrame, 2)
        assert down.words == ["Namaste!", "Namaste!"]

    conversation(SwarTTSService(base_url=first.url, api_key="good"), script)
    first.stop()


def test_over_http(server: Server) -> None:
    async def script(send: Any, down: Ear, up: Ear) -> None:
        await send(*turn(*pieces(ORDER)))
        await down.wait(TTSStoppedFrame)
        with Swar(server.url, "good") as s:
            whole = s.speak(ORDER, format="pcm16").read()
        assert abs(down.seconds - len(whole) / 48000) < 0.5 and not up.all(ErrorFrame)

    conversation(SwarHttpTTSService(base_url=server.url, api_key="good"), script)
