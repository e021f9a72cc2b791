"""The client of OpenAI for Python against a server of ours."""

import os

import openai

from native import decoded, near

TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"


def client(key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=os.environ["SWAR_COMPAT"] + "/v1", api_key=key)


def rejected(kind: type, code: str, **fields: object) -> None:
    key = fields.pop("key", os.environ["SWAR_COMPAT_KEY"])
    try:
        client(key).audio.speech.create(**{"model": "tts-1", "voice": "nova", "input": TEXT, **fields})
    except kind as e:
        assert e.code == code, (e.code, code)
    else:
        raise AssertionError(f"{fields} is not refused")


swar = client(os.environ["SWAR_COMPAT_KEY"])
for word in ["mp3", "wav", "pcm", "opus", "flac"]:
    fields = {"model": "tts-1", "voice": {"id": "raj"}, "input": TEXT, "response_format": word}
    sound = swar.audio.speech.create(**fields).content
    near(len(sound) / 48_000 if word == "pcm" else decoded(sound), TEXT, "raj", word)
with swar.audio.speech.with_streaming_response.create(
    model="gpt-4o-mini-tts", voice="ash", input=TEXT, response_format="pcm", speed=1.0
) as answer:
    parts = [len(p) for p in answer.iter_bytes(3840)]
assert sum(parts) % 3840 == 0 and len(parts) > 20, parts
near(sum(parts) / 48_000, TEXT, "raj", "a stream")
assert "swar-1" in [m.id for m in swar.models.list()]
assert swar.models.retrieve("tts-1").id == "tts-1"
rejected(openai.AuthenticationError, "invalid_api_key", key="wrong")
rejected(openai.PermissionDeniedError, "voice_not_allowed", key=os.environ["SWAR_COMPAT_RAJ_KEY"])
rejected(openai.BadRequestError, "unknown_voice", voice="kaun")
rejected(openai.BadRequestError, "string_too_long", input="a" * 4097)
rejected(openai.BadRequestError, "unsupported_parameter", response_format="aac")
