"""The client of ElevenLabs for Python against a server of ours."""

import base64
import os

from elevenlabs import ElevenLabs
from elevenlabs.core import ApiError

from native import decoded, near

TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"


def client(key: str) -> ElevenLabs:
    return ElevenLabs(base_url=os.environ["SWAR_COMPAT"], api_key=key)


def rejected(status: int, word: str, voice: str = "raj", **fields: object) -> None:
    key = fields.pop("key", os.environ["SWAR_COMPAT_KEY"])
    try:
        b"".join(client(key).text_to_speech.convert(voice, **{"text": TEXT, **fields}))
    except ApiError as e:
        assert (e.status_code, e.body["detail"]["status"]) == (status, word), (e, status, word)
    else:
        raise AssertionError(f"{fields} is not refused")


swar = client(os.environ["SWAR_COMPAT_KEY"])
size, seconds = {}, {"pcm_24000": 48_000, "pcm_16000": 32_000, "ulaw_8000": 8_000}
for word in [None, "mp3_22050_32", "pcm_16000", "pcm_24000", "ulaw_8000", "wav_24000", "opus_48000_96"]:
    fields = {"output_format": word} if word else {}
    sound = b"".join(swar.text_to_speech.convert("anjura", text=TEXT, seed=7, **fields))
    near(len(sound) / seconds[word] if word in seconds else decoded(sound), TEXT, "anjura", word)
    size[word] = len(sound)
assert size["wav_24000"] == size["pcm_24000"] + 44, size
parts = list(swar.text_to_speech.stream("raj", text=TEXT * 20, output_format="pcm_24000"))
assert len(parts) > 20, len(parts)
timed = swar.text_to_speech.convert_with_timestamps("anjura", text=TEXT, seed=7, output_format="pcm_24000")
assert len(base64.b64decode(timed.audio_base_64)) == size["pcm_24000"]
assert "".join(timed.alignment.characters) == TEXT + " "
starts = timed.alignment.character_start_times_seconds
assert starts == sorted(starts), starts
lines = list(swar.text_to_speech.stream_with_timestamps("anjura", text=TEXT, seed=7, output_format="pcm_24000"))
assert sum(len(base64.b64decode(line.audio_base_64)) for line in lines) == size["pcm_24000"]

assert "raj" in [v.voice_id for v in swar.voices.get_all().voices]
assert swar.voices.search().total_count >= 2
assert swar.voices.get("raj").name == "raj"
assert swar.models.list()[0].model_id == "swar-1"
assert swar.user.subscription.get().tier == "swar"
assert swar.user.get().subscription.status == "active"
rejected(401, "invalid_api_key", key="wrong")
rejected(403, "voice_access_denied", voice="anjura", key=os.environ["SWAR_COMPAT_RAJ_KEY"])
rejected(404, "voice_not_found", voice="aaaaaaaaaaaaaaaaaaaa")
rejected(400, "max_character_limit_exceeded", text="a" * 5001)
rejected(400, "invalid_output_format", output_format="pcm_11025")

# Over the socket, which the client opens with TLS alone: the address is put in its place.
swar.text_to_speech._ws_base_url = os.environ["SWAR_COMPAT"].replace("http", "ws")
spoken = b"".join(swar.text_to_speech.convert_realtime("raj", text=iter(TEXT.replace(" ", " |").split("|")), model_id="m", output_format="pcm_24000"))
near(len(spoken) / 48_000, TEXT, "raj", "a socket", pieces=True)
