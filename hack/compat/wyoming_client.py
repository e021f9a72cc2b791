"""The library of Home Assistant's Wyoming protocol against a server of ours."""

import asyncio
import os

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from native import near
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

HOST, PORT = os.environ["SWAR_COMPAT_WYOMING"].split(":")
TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"
PIECES = ["नम", "स", "्", "ते", " जी", "।", " आप", "क", "ा ओट", "ी", "पी 4829", "13 है", "।", " Kal mil", "enge", "."]
RAJ = SynthesizeVoice(name="raj")


async def turn(client: AsyncTcpClient, last: str) -> bytes:
    """The audio of a turn, which begins with audio-start and ends with last."""
    audio, types = b"", []
    while True:
        event = await asyncio.wait_for(client.read_event(), 30)
        assert event is not None and not Error.is_type(event.type), event
        types.append(event.type)
        if AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (24000, 2, 1)
            audio += chunk.audio
        if event.type == last:
            assert AudioStart.is_type(types[0]), types
            assert "audio-stop" in types, types
            return audio


async def main() -> None:
    async with AsyncTcpClient(HOST, int(PORT)) as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        (program,) = info.tts
        assert program.supports_synthesize_streaming and program.installed
        voices = {v.name: v.languages for v in program.voices}
        assert {"anjura", "raj"} <= voices.keys() and all(voices.values()), voices
        assert not (info.asr or info.handle or info.intent or info.wake or info.mic or info.snd)

        await client.write_event(Synthesize(text=TEXT, voice=RAJ).event())
        near(len(await turn(client, "audio-stop")) / 48_000, TEXT, "raj", "a text")
        await client.write_event(Synthesize(text=TEXT).event())
        near(len(await turn(client, "audio-stop")) / 48_000, TEXT, "anjura", "a text without a voice")

        await client.write_event(SynthesizeStart(voice=RAJ).event())
        for piece in PIECES:
            await client.write_event(SynthesizeChunk(text=piece).event())
        await client.write_event(Synthesize(text="".join(PIECES), voice=RAJ).event())
        await client.write_event(SynthesizeStop().event())
        near(len(await turn(client, "synthesize-stopped")) / 48_000, "".join(PIECES), "raj", "pieces", pieces=True)

        await client.write_event(Ping(text="x").event())
        assert Pong.from_event(await client.read_event()).text == "x"

        await client.write_event(Synthesize(text=TEXT, voice=SynthesizeVoice(name="kaun")).event())
        error = Error.from_event(await client.read_event())
        assert error.code == "unknown_voice" and "kaun" in error.text, error
        assert await client.read_event() is None, "Home Assistant would wait for ever"

    async def one(i: int) -> None:
        async with AsyncTcpClient(HOST, int(PORT)) as client:
            await client.write_event(Synthesize(text=f"Number {i}.", voice=RAJ).event())
            while (event := await client.read_event()) is not None:
                if AudioStop.is_type(event.type) or Error.is_type(event.type):
                    return
            raise AssertionError("cut without an error")

    await asyncio.gather(*(one(i) for i in range(20)))
    assert SynthesizeStopped.is_type("synthesize-stopped")


asyncio.run(main())
