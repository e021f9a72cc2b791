"""The client of Cartesia for Python against a server of ours."""

import os

import cartesia

from native import decoded, near

TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"
HTTP, KEY = os.environ["SWAR_COMPAT"], os.environ["SWAR_COMPAT_KEY"]
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
VOICE = {"mode": "id", "id": "f786b574-daa5-4673-aa0c-cbe3e8534c02"}


def client(key: str) -> cartesia.Cartesia:
    return cartesia.Cartesia(api_key=key, base_url=HTTP, websocket_base_url="ws" + HTTP.removeprefix("http"), max_retries=0)


def sound(by: cartesia.Cartesia, **fields: object) -> bytes:
    return by.tts.generate(**{"model_id": "sonic-3", "transcript": TEXT, "voice": VOICE, "output_format": RAW, **fields}).read()


def rejected(kind: type, key: str = KEY, **fields: object) -> None:
    try:
        sound(client(key), **fields)
    except kind as e:
        assert e.body["message"] and e.body["error_code"], e.body
    else:
        raise AssertionError(f"{fields} is not refused")


swar = client(KEY)
near(len(sound(swar)) / 48_000, TEXT, "anjura", "raw")
for encoding, size in [("pcm_f32le", 4), ("pcm_mulaw", 1), ("pcm_alaw", 1)]:
    raw = sound(swar, output_format={"container": "raw", "encoding": encoding, "sample_rate": 8000})
    near(len(raw) / 8000 / size, TEXT, "anjura", encoding)
near(decoded(sound(swar, output_format={**RAW, "container": "wav"})), TEXT, "anjura", "wav")
for rate in [8000, 16000, 24000, 44100]:
    near(decoded(sound(swar, output_format={"container": "mp3", "sample_rate": rate, "bit_rate": 128000})), TEXT, "anjura", f"mp3 at {rate} Hz")
near(len(sound(swar, generation_config={"speed": 1.5})) / 48_000, TEXT, "anjura", "speed", 1.5)
events = swar.tts.generate_sse(model_id="sonic-3", transcript=TEXT, voice=VOICE, output_format=RAW, add_timestamps=True)
kinds = [e.type for e in events]
assert kinds[0] == "chunk" and "timestamps" in kinds and kinds[-1] == "done", kinds
assert {"anjura", "raj"} <= {v.id for v in swar.voices.list()}
assert swar.voices.get("raj").name == "raj"
rejected(cartesia.AuthenticationError, "wrong")
rejected(cartesia.PermissionDeniedError, os.environ["SWAR_COMPAT_RAJ_KEY"])
rejected(cartesia.BadRequestError, voice={"mode": "id", "id": "kaun"})
rejected(cartesia.BadRequestError, transcript="a" * 4001)

for _ in range(2):  # the second one connects again
    with swar.tts.websocket_connect() as socket:
        contexts = [socket.context(context_id=name, model_id="sonic-3", voice=VOICE, output_format=RAW) for name in ("one", "two")]
        for piece in ["नमस", "्ते!", " Aapka OTP 4829", "13 hai.", " कल मिलें", "गे।"]:
            for c in contexts:
                c.push(piece)
        for c in contexts:
            c.no_more_inputs()
        for c in contexts:
            audio = b"".join(e.audio for e in c.receive() if e.type == "chunk")
            near(len(audio) / 48_000, TEXT, "anjura", "a socket", pieces=True)
