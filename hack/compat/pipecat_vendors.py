"""Pipecat's services of other vendors against a server of ours: a turn, an interruption, and a turn after it."""

import asyncio
import os

import aiohttp
from native import near
from pipecat.frames.frames import (
    EndFrame, ErrorFrame, InterruptionFrame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame, StartFrame, TTSAudioRawFrame,
    TTSStoppedFrame, TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.cartesia.tts import CartesiaHttpTTSService, CartesiaTTSService
from pipecat.services.deepgram.tts import DeepgramHttpTTSService, DeepgramTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsHttpTTSService, ElevenLabsTTSService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.services.sarvam.tts import SarvamHttpTTSService, SarvamTTSService
from pipecat.workers.runner import WorkerRunner

HTTP, KEY = os.environ["SWAR_COMPAT"], os.environ["SWAR_COMPAT_KEY"]
WS = "ws" + HTTP.removeprefix("http")
TEXT = ["Namaste! ", "Aapka OTP ", "482913 hai. ", "कल मिलें", "गे।"]
LONG = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. " * 40


def voice(kind, **settings):
    return {"api_key": KEY, "settings": kind.Settings(voice="anjura", **settings)}


# Whom the defaults of the services stand for, where they are not anjura.
VOICES = {"sarvam": "raj", "sarvam-http": "raj"}

SERVICES = {
    "openai": lambda http: OpenAITTSService(api_key=KEY, base_url=HTTP + "/v1"),
    "deepgram-http": lambda http: DeepgramHttpTTSService(base_url=HTTP, aiohttp_session=http, api_key=KEY),
    "deepgram": lambda http: DeepgramTTSService(base_url=WS, api_key=KEY),
    "elevenlabs-http": lambda http: ElevenLabsHttpTTSService(base_url=HTTP, aiohttp_session=http, **voice(ElevenLabsHttpTTSService)),
    "elevenlabs": lambda http: ElevenLabsTTSService(url=WS, **voice(ElevenLabsTTSService)),
    "sarvam-http": lambda http: SarvamHttpTTSService(base_url=HTTP, aiohttp_session=http, api_key=KEY),
    "sarvam": lambda http: SarvamTTSService(url=WS + "/text-to-speech/ws", api_key=KEY),
    "cartesia-http": lambda http: CartesiaHttpTTSService(base_url=HTTP, **voice(CartesiaHttpTTSService)),
    "cartesia": lambda http: CartesiaTTSService(url=WS + "/tts/websocket", **voice(CartesiaTTSService)),
}


class Ear(FrameProcessor):
    """Notes all frames that pass."""

    def __init__(self):
        super().__init__(enable_direct_mode=True)
        self.frames, self.came = [], asyncio.Condition()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        async with self.came:
            self.frames.append(frame)
            self.came.notify_all()
        await self.push_frame(frame, direction)

    def all(self, kind):
        return [f for f in self.frames if isinstance(f, kind)]

    async def wait(self, kind, number=1):
        async with self.came:
            await asyncio.wait_for(self.came.wait_for(lambda: len(self.all(kind)) >= number), 60)


async def try_service(name, make):
    async with aiohttp.ClientSession() as http:
        up, down = Ear(), Ear()
        worker = PipelineWorker(Pipeline([up, make(http), down]), cancel_on_idle_timeout=False)

        async def turn(*pieces):
            for frame in [LLMFullResponseStartFrame(), *map(LLMTextFrame, pieces), LLMFullResponseEndFrame()]:
                await worker.queue_frame(frame)

        async def play():
            await turn(*TEXT)
            await down.wait(TTSStoppedFrame)
            seconds = sum(len(f.audio) / 2 / f.sample_rate for f in down.all(TTSAudioRawFrame))
            near(seconds, "".join(TEXT), VOICES.get(name, "anjura"), name, pieces=True)
            words = " ".join(f.text for f in down.all(TTSTextFrame))
            assert words.replace(" ", "") == "".join(TEXT).replace(" ", ""), words
            times = [f.pts for f in down.all(TTSTextFrame) if f.pts]
            assert times == sorted(times), times
            heard = len(down.all(TTSAudioRawFrame))
            await turn(LONG)
            await down.wait(TTSAudioRawFrame, heard + 1)
            await worker.queue_frame(InterruptionFrame())
            await down.wait(InterruptionFrame)
            stopped = len(down.all(TTSStoppedFrame))
            await turn("Namaste!")
            await down.wait(TTSStoppedFrame, stopped + 1)
            assert down.all(TTSTextFrame)[-1].text == "Namaste!", down.all(TTSTextFrame)[-1]
            assert not up.all(ErrorFrame), up.all(ErrorFrame)
            print(f"{name}: {seconds:.1f} s", flush=True)

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        try:
            async with asyncio.timeout(120):
                await down.wait(StartFrame)
                await play()
        except BaseException:
            await worker.cancel()  # by its own method: a runner whose tasks are cancelled from outside waits for ever
            raise
        else:
            await worker.queue_frame(EndFrame())
        finally:
            await running


for name in os.environ.get("SWAR_DIALECTS", "openai").split(","):
    asyncio.run(try_service(name, SERVICES[name]))
