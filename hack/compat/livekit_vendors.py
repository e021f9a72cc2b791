"""The plugins of LiveKit for other services against a server of ours: each with its defaults, but for the address."""

import asyncio
import os

import aiohttp
from livekit.agents import APIConnectOptions, APIStatusError
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from native import near
from livekit.plugins import cartesia, deepgram, elevenlabs, openai, sarvam

HTTP, KEY = os.environ["SWAR_COMPAT"], os.environ["SWAR_COMPAT_KEY"]
WS = "ws" + HTTP.removeprefix("http")
TEXT = ["Namaste! Aapka OTP ", "482913 hai. ", "कल मिलें", "गे।"]
LONG = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. " * 20
ONCE = APIConnectOptions(max_retry=0, timeout=10)

# Whom the defaults of the plugins stand for.
VOICES = {"openai": "raj", "deepgram": "anjura", "elevenlabs": "anjura", "sarvam": "raj", "cartesia": "anjura"}

PLUGINS = {
    "openai": lambda http, key: openai.TTS(base_url=HTTP + "/v1", api_key=key),
    "deepgram": lambda http, key: deepgram.TTS(base_url=HTTP + "/v1/speak", api_key=key, http_session=http),
    "elevenlabs": lambda http, key: elevenlabs.TTS(base_url=HTTP + "/v1", api_key=key, http_session=http),
    "sarvam": lambda http, key: sarvam.TTS(
        base_url=HTTP + "/text-to-speech", ws_url=WS + "/text-to-speech/ws", api_key=key, http_session=http,
    ),
    "cartesia": lambda http, key: cartesia.TTS(base_url=HTTP, api_key=key, http_session=http),
}


async def heard(stream):
    """Returns how many seconds come, and the words with their times."""
    seconds, words = 0.0, []
    async for audio in stream:
        seconds += audio.frame.duration
        words += audio.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
    return seconds, words


async def try_plugin(name, make):
    async with aiohttp.ClientSession() as http:
        tts = make(http, KEY)
        whole, _ = await heard(tts.synthesize("".join(TEXT), conn_options=ONCE))
        near(whole, "".join(TEXT), VOICES[name], "at once")
        if tts.capabilities.streaming:
            for _ in range(2):  # the second turn takes the connection of the first
                stream = tts.stream(conn_options=ONCE)
                for piece in TEXT:
                    stream.push_text(piece)
                stream.end_input()
                seconds, words = await heard(stream)
                await stream.aclose()
                near(seconds, "".join(TEXT), VOICES[name], "in pieces", pieces=True)
                starts = [w.start_time for w in words if w.start_time]
                assert starts == sorted(starts) and (words or not tts.capabilities.aligned_transcript), words
            stream = tts.stream(conn_options=ONCE)  # interrupted
            stream.push_text(LONG)
            stream.end_input()
            await stream.__anext__()
            await stream.aclose()
        sizes = await asyncio.gather(*[heard(tts.synthesize("Namaste!")) for _ in range(5)])
        assert all(seconds > 0.2 for seconds, _ in sizes), sizes
        await tts.aclose()
        wrong = make(http, "wrong")
        try:
            await heard(wrong.synthesize("Namaste!", conn_options=ONCE))
        except APIStatusError as e:
            assert e.status_code in (401, 403), e
        else:
            raise AssertionError("a wrong key is not refused")
        await wrong.aclose()
    print(f"{name}: {whole:.1f} s")


for name in os.environ.get("SWAR_DIALECTS", "openai").split(","):
    asyncio.run(asyncio.wait_for(try_plugin(name, PLUGINS[name]), 120))
