"""The client of Sarvam for Python against a server of ours."""

import base64
import os
import wave
from io import BytesIO

from sarvamai import AudioOutput, ErrorResponse, EventResponse, SarvamAI, SarvamAIEnvironment
from native import decoded, near
from sarvamai.errors import BadRequestError, ForbiddenError

TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"
HTTP, KEY = os.environ["SWAR_COMPAT"], os.environ["SWAR_COMPAT_KEY"]
WS = "ws" + HTTP.removeprefix("http")


def client(key: str) -> SarvamAI:
    return SarvamAI(api_subscription_key=key, environment=SarvamAIEnvironment(base=HTTP, creative=HTTP, production=WS))


def sound(by: SarvamAI, **fields: object) -> bytes:
    answer = by.text_to_speech.convert(**{"text": TEXT, "language_code": "hi-IN", "speaker": "shubh", "model": "bulbul:v3", **fields})
    return base64.b64decode(answer.audios[0])


def rejected(kind: type, key: str = KEY, **fields: object) -> None:
    try:
        sound(client(key), **fields)
    except kind as e:
        assert e.body["error"]["message"], e.body
    else:
        raise AssertionError(f"{fields} is not refused")


swar = client(KEY)
with wave.open(BytesIO(sound(swar))) as w:
    near(w.getnframes() / w.getframerate(), TEXT, "raj", "wav")
for codec in ["mp3", "opus", "flac"]:
    near(decoded(sound(swar, output_audio_codec=codec)), TEXT, "raj", codec)
for codec, second in [("linear16", 48_000), ("mulaw", 8_000), ("alaw", 8_000)]:
    near(len(sound(swar, output_audio_codec=codec)) / second, TEXT, "raj", codec)
near(decoded(sound(swar, output_audio_codec="mp3", speech_sample_rate=8000)), TEXT, "raj", "mp3 at 8 kHz")
with wave.open(BytesIO(sound(swar, speech_sample_rate=8000, pace=2.0))) as w:
    near(w.getnframes() / 8000, TEXT, "raj", "pace", 2)
parts = list(swar.text_to_speech.convert_stream(text=TEXT * 10, language_code="hi-IN", speaker="anushka", model="bulbul:v3"))
assert len(parts) > 3, len(parts)
rejected(ForbiddenError, "wrong")
rejected(ForbiddenError, os.environ["SWAR_COMPAT_RAJ_KEY"], speaker="anushka")
rejected(BadRequestError, text="a" * 2501)
rejected(BadRequestError, dict_id="lex_nobody")


def turn(socket) -> float:
    """Reads up to the end of a turn, and returns its seconds."""
    audio = b""
    while True:
        m = socket.recv()
        if isinstance(m, AudioOutput):
            assert m.data.content_type == "audio/pcm", m.data.content_type
            audio += base64.b64decode(m.data.audio)
        elif isinstance(m, EventResponse):
            return len(audio) / 48_000
        else:
            raise AssertionError(m)


for _ in range(2):  # the second one connects again
    with swar.text_to_speech_streaming.connect(model="bulbul:v3", send_completion_event="true") as socket:
        for _ in range(2):
            socket.configure(target_language_code="hi-IN", speaker="shubh", output_audio_codec="linear16", speech_sample_rate=24000)
            for piece in ["नमस", "्ते!", " Aapka OTP 4829", "13 hai. ", "कल मिलें", "गे।"]:
                socket.convert(piece)
            socket.flush()
            near(turn(socket), TEXT, "raj", "a socket", pieces=True)
        socket.configure(target_language_code="hi-IN", speaker="kaun")
        assert isinstance(m := socket.recv(), ErrorResponse) and m.data.code == 400, m
