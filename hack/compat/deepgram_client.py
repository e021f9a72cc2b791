"""The client of Deepgram for Python against a server of ours."""

import os
import threading

from deepgram import DeepgramClient
from deepgram.core.api_error import ApiError
from deepgram.environment import DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text

from native import decoded, near

TEXT = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"
HTTP = os.environ["SWAR_COMPAT"]
WS = "ws" + HTTP.removeprefix("http")


def client(key: str) -> DeepgramClient:
    at = DeepgramClientEnvironment(base=HTTP, production=WS, agent=WS, agent_rest=HTTP)
    return DeepgramClient(api_key=key, environment=at)


def rejected(status: int, key: str, **fields: object) -> None:
    try:
        b"".join(client(key).speak.v1.audio.generate(**{"text": TEXT, **fields}, request_options={"max_retries": 0}))
    except ApiError as e:
        assert e.status_code == status and e.body["err_code"], (e.status_code, e.body)
    else:
        raise AssertionError(f"{fields} is not refused")


def until(socket: object, kind: str) -> tuple[int, object]:
    """Returns how many bytes come before a message of a kind, which is the next one. The client takes a class for another."""
    size = 0
    while isinstance(m := socket.recv(), bytes):
        size += len(m)
    assert m.type == kind, m
    return size, m


KEY = os.environ["SWAR_COMPAT_KEY"]
swar = client(KEY)
for encoding in ["mp3", "linear16", "mulaw", "alaw", "opus", "flac"]:
    near(decoded(b"".join(swar.speak.v1.audio.generate(text=TEXT, model="raj", encoding=encoding))), TEXT, "raj", encoding)
bare = b"".join(swar.speak.v1.audio.generate(text=TEXT, encoding="linear16", container="none", sample_rate=16000))
near(len(bare) / 32_000, TEXT, "anjura", "16 kHz")
with swar.speak.v1.connect(model="anjura", encoding="linear16", sample_rate=16000) as socket:
    assert until(socket, "Metadata")[1].model_name == "anjura"
    pieces = ["नम", "स", "्", "ते", " जी", "।", " Aapka OTP 4829", "13 hai."]
    for piece in pieces:
        socket.send_text(SpeakV1Text(text=piece))
    first = socket.recv()  # before the text is complete
    assert isinstance(first, bytes)
    socket.send_flush()
    near((len(first) + until(socket, "Flushed")[0]) / 32_000, "".join(pieces), "anjura", "pieces", pieces=True)
    socket.send_text(SpeakV1Text(text=TEXT))
    socket.send_flush()
    spoken, flushed = until(socket, "Flushed")
    assert flushed.sequence_id == 1
    near(spoken / 32_000, TEXT, "anjura", "a whole text on a socket", pieces=True)
    socket.send_text(SpeakV1Text(text=TEXT * 20))
    socket.send_flush()
    assert isinstance(socket.recv(), bytes)
    socket.send_clear()
    until(socket, "Cleared")
    socket.send_text(SpeakV1Text(text="a" * 2001))
    assert until(socket, "Warning")[0] == 0
    socket.send_close()


def talk() -> None:
    with swar.speak.v1.connect(model="raj", encoding="mulaw", sample_rate=8000) as socket:
        until(socket, "Metadata")
        for _ in range(2):
            socket.send_text(SpeakV1Text(text=TEXT))
            socket.send_flush()
            size, _ = until(socket, "Flushed")
            near(size / 8000, TEXT, "raj", "a telephone", pieces=True)


clients = [threading.Thread(target=talk) for _ in range(5)]
for c in clients:
    c.start()
for c in clients:
    c.join()

rejected(401, "wrong")
rejected(403, os.environ["SWAR_COMPAT_RAJ_KEY"], model="anjura")
rejected(400, KEY, model="kaun")
rejected(400, KEY, encoding="linear16", sample_rate=11025)
rejected(413, KEY, text="a" * 2001)
try:
    with client("wrong").speak.v1.connect() as socket:
        raise AssertionError("a wrong key opens a socket")
except Exception as e:  # the client passes on what its WebSocket says
    assert "401" in str(e), e
assert any(m.canonical_name == "raj" for m in swar.manage.v1.models.list().tts)
