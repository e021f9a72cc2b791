"""Against a real server: SWAR_TEST_BINARY is the program swar. hack/sdk.sh runs this."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import swar
from swar import AsyncSwar, Audio, BusyError, Cancelled, CutError, End, Flushed, Start, Swar, SwarError, Words

CASES = json.loads((Path(__file__).parents[2] / "cases.json").read_text())
ORDER = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."
LONG = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. " * 20


class Server:
    def __init__(self, data: Path, port: int = 0) -> None:
        self.data = data
        self.process = subprocess.Popen(
            [os.environ["SWAR_TEST_BINARY"], "serve", "--engine", "espeak", "--portal", "off", "--api-key", "good", "--api-key",
             "only-raj=raj", "--workers", "2", "--listen", f"127.0.0.1:{port}", "--data", str(data), "--log-format", "json"],
            stderr=subprocess.PIPE, text=True,
        )
        assert self.process.stderr
        self.lines: list[str] = []
        self.url = ""
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r'"msg":"ready","listen":"([^"]+)"', line):
                self.url = "http://" + found[1]
                break
        assert self.url, "".join(self.lines)
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        assert self.process.stderr
        self.lines.extend(self.process.stderr)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    s = Server(tmp_path_factory.mktemp("data"))
    yield s
    s.stop()


def request_of(case: dict[str, Any]) -> dict[str, Any]:
    r = dict(case["request"])
    r["text"] *= r.pop("repeat", 1)
    return r


def check(case: dict[str, Any], audio: bytes) -> None:
    low, high = case["seconds"]
    assert low <= len(audio) / 48000 <= high


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_cases(server: Server, case: dict[str, Any]) -> None:
    with Swar(server.url, case.get("key", "good")) as s:
        if "error" not in case:
            check(case, s.speak(**request_of(case)).read())
            return
        with pytest.raises(SwarError) as e:
            s.speak(**request_of(case))
        want = case["error"]
        assert (type(e.value).__name__, e.value.status, e.value.code) == (want["class"], want["status"], want["code"])
        assert e.value.request_id


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_cases_async(server: Server, case: dict[str, Any]) -> None:
    async def run() -> None:
        async with AsyncSwar(server.url, case.get("key", "good")) as s:
            if "error" not in case:
                check(case, await (await s.speak(**request_of(case))).read())
                return
            with pytest.raises(getattr(swar, case["error"]["class"])) as e:
                await s.speak(**request_of(case))
            assert (e.value.status, e.value.code) == (case["error"]["status"], case["error"]["code"])

    asyncio.run(run())


def test_save(server: Server, tmp_path: Path) -> None:
    with Swar(server.url, "good") as s:
        take = s.speak(ORDER, seed=7)
        path = take.save(tmp_path / "a.wav")
        again = s.speak(ORDER, seed=take.seed).save(str(tmp_path / "b.wav"))
        b = path.read_bytes()
        assert b == again.read_bytes() and take.voice == "anjura" and take.model == "espeak-ng-hinglish"
        assert struct.unpack("<I", b[4:8])[0] == len(b) - 8 and struct.unpack("<I", b[40:44])[0] == len(b) - 44
        assert s.speak(ORDER, format="opus").save(tmp_path / "a.opus").read_bytes()[:4] == b"OggS"
        assert "你" in s.speak("Namaste 你").unspoken
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.opus", "a.wav", "b.wav"]


def test_voices_and_normalize(server: Server) -> None:
    with Swar(server.url, "only-raj") as s:
        assert [v.name for v in s.voices()] == ["raj"]
        assert "चार सौ निन्यानबे" in s.normalize("₹499").text


def test_words(server: Server) -> None:
    with Swar(server.url, "good") as s:
        events = list(s.words(ORDER, format="pcm16"))
    assert isinstance(events[0], Start) and isinstance(events[-1], End)
    words = [w for e in events if isinstance(e, Words) for w in e.words]
    starts = [w.start_s for w in words]
    assert len(words) > 5 and starts == sorted(starts) and words[-1].end_s <= events[-1].audio_s
    assert sum(len(e.pcm) for e in events if isinstance(e, Audio)) == events[-1].frames * 3840


def test_word_by_word(server: Server) -> None:
    """A language model's pieces, cut inside syllables, sound like the whole."""
    text = "नमस्ते! आपका OTP 407 है। धन्यवाद।"
    with Swar(server.url, "good") as s, s.connect() as sock:
        whole = sock.say(text, seed=7)
        said = [e.normalized for e in whole if isinstance(e, Start)][0]
        u = sock.utterance(voice="anjura", timestamps="words", seed=7)
        for letter in text:
            u.append(letter)
        u.flush()
        u.finish()
        events = list(u)
    spoken = "".join(e.text for e in events if isinstance(e, swar.Chunk))
    assert "".join(spoken.split()) == "".join(said.split())
    assert isinstance(events[-1], End) and any(isinstance(e, Flushed) for e in events)


def test_clear_stops_the_bill(server: Server) -> None:
    with Swar(server.url, "good") as s, s.connect() as sock:
        u = sock.say(LONG)
        last: Any = None
        for e in u:
            last = e
            if isinstance(e, Audio):
                u.clear()
        assert isinstance(last, Cancelled) and last.billed_frames < 20 * 40
        assert isinstance(list(sock.say("Namaste!"))[-1], End)  # the socket lives on


def test_cancelled_task_clears(server: Server) -> None:
    async def run() -> None:
        async with AsyncSwar(server.url, "good") as s, s.connect() as sock:
            u = await sock.say(LONG)
            heard = asyncio.Event()

            async def listen() -> None:
                async for e in u:
                    if isinstance(e, Audio):
                        heard.set()

            task = asyncio.create_task(listen())
            await heard.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(await (await sock.say("Namaste!")).read()) > 3840

    asyncio.run(run())


def test_two_utterances_interleave(server: Server) -> None:
    async def run() -> None:
        async with AsyncSwar(server.url, "good") as s, s.connect() as sock:
            first, second = await sock.say("Ek do teen.", seed=1), await sock.say("Namaste!", seed=1)
            a, b = await asyncio.gather(second.read(), first.read())
            assert a == await (await s.speak("Namaste!", seed=1, format="pcm16")).read()
            assert b == await (await s.speak("Ek do teen.", seed=1, format="pcm16")).read()

    asyncio.run(run())


def test_twenty_at_once(server: Server) -> None:
    async def run() -> None:
        async with AsyncSwar(server.url, "good", retries=20) as s:
            takes = await asyncio.gather(*[one(s) for _ in range(20)])
            assert all(len(t) > 3840 for t in takes)

    async def one(s: AsyncSwar) -> bytes:
        return await (await s.speak("Namaste!", format="pcm16")).read()

    asyncio.run(run())


def test_reconnects_between_utterances(tmp_path: Path) -> None:
    first = Server(tmp_path)
    port = first.port
    with Swar(first.url, "good") as s, s.connect() as sock:
        assert isinstance(list(sock.say("Namaste!"))[-1], End)
        first.stop()
        second = Server(tmp_path, port)
        try:
            assert isinstance(list(sock.say("Namaste!"))[-1], End)
            u = sock.say(LONG)
            next(u)
            second.process.kill()
            with pytest.raises(CutError):
                list(u)
        finally:
            second.process.kill()
            second.process.wait()


class Broken(BaseHTTPRequestHandler):
    """Answers busy twice, and cuts the third answer."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def do_POST(self) -> None:
        Broken.asked += 1
        self.rfile.read(int(self.headers["content-length"]))
        if Broken.asked <= 2:
            body = b'{"error":"busy"}'
            self.send_response(503)
            self.send_header("retry-after", "0")
            self.send_header("x-error-code", "busy")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"4\r\nabcd\r\n")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_retries_and_cuts() -> None:
    http = ThreadingHTTPServer(("127.0.0.1", 0), Broken)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{http.server_port}"
    try:
        with Swar(url, retries=1) as s, pytest.raises(BusyError):
            s.speak("Namaste!")
        with Swar(url) as s:
            take = s.speak("Namaste!")
            got = b""
            with pytest.raises(CutError):
                for data in take.iter_bytes():
                    got += data
            assert got == b"abcd"
            Broken.asked = 2
            with pytest.raises(CutError):
                list(s.words("Namaste!"))
    finally:
        http.shutdown()


def test_nobody_answers() -> None:
    with Swar("127.0.0.1:1", retries=0) as s:
        with pytest.raises(SwarError, match="no server answers at http://127.0.0.1:1"):
            s.speak("Namaste!")
        with pytest.raises(SwarError, match="no server answers"):
            s.connect()
    for bad in ("ftp://a", "http://", "https://a?b=c"):
        with pytest.raises(ValueError):
            Swar(bad)


def test_command(server: Server, tmp_path: Path) -> None:
    run = subprocess.run(
        ["python", "-m", "swar", "say", "--server", server.url, "--key", "good", "-o", str(tmp_path / "a.opus"), "Namaste!"],
        capture_output=True, text=True,
    )
    assert run.returncode == 0 and (tmp_path / "a.opus").read_bytes()[:4] == b"OggS", run.stderr
