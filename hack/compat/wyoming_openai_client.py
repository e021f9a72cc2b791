"""wyoming-openai, a Wyoming server in front of the API of OpenAI, against a server of ours."""

import asyncio
import os
import socket
import subprocess
import sys

from wyoming.audio import AudioChunk, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from native import near
from wyoming.tts import Synthesize, SynthesizeVoice


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


async def speak(port: int) -> None:
    for _ in range(100):
        try:
            async with AsyncTcpClient("127.0.0.1", port) as client:
                await client.write_event(Describe().event())
                info = Info.from_event(await client.read_event())
                names = {v.name for v in info.tts[0].voices}
                assert {"anjura", "raj"} <= names, names
                voice = SynthesizeVoice(name="raj")
                await client.write_event(Synthesize(text="Namaste! Aapka OTP 482913 hai.", voice=voice).event())
                size = 0
                while (event := await asyncio.wait_for(client.read_event(), 30)) is not None:
                    assert not Error.is_type(event.type), event
                    if AudioChunk.is_type(event.type):
                        size += len(AudioChunk.from_event(event).audio)
                    if AudioStop.is_type(event.type):
                        break
                near(size / 48_000, "Namaste! Aapka OTP 482913 hai.", "raj", pieces=True)
                return
        except ConnectionError:
            await asyncio.sleep(0.2)
    raise AssertionError("wyoming-openai does not listen")


port = free_port()
proxy = subprocess.Popen([
    sys.executable, "-m", "wyoming_openai", "--uri", f"tcp://127.0.0.1:{port}",
    "--tts-openai-url", os.environ["SWAR_COMPAT"] + "/v1", "--tts-openai-key", os.environ["SWAR_COMPAT_KEY"],
    "--tts-models", "tts-1", "--tts-voices", "anjura", "raj",
])
try:
    asyncio.run(speak(port))
finally:
    proxy.terminate()
    proxy.wait()
