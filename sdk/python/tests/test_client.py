"""Against a real server: SWAR_TEST_BINARY is the program swar. hack/sdk.sh runs this."""

from __future__ import annotations

import asyncio
import json
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
from serving import Server
from swar import AsyncSwar, Audio, BusyError, Cancelled, CutError, End, Flushed, Start, Swar, SwarError, Words

CASES = json.loads((Path(__file__).parents[2] / "cases.json").read_text())
ORDER = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."
LONG = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. " * 20


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


def test_lexicon(server: Server) -> None:
    with Swar(server.url, "good") as s, s.connect() as sock:
        assert s.speak("Namaste!", lexicon="none").read() and sock.say("Namaste!", lexicon="none").read()
        for ask in (lambda: s.speak("Namaste!", lexicon="lex_nope"), lambda: sock.say("Namaste!", lexicon="lex_nope").read()):
            with pytest.raises(SwarError, match="unknown lexicon") as e:
                ask()
            assert e.value.status == 400


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


def test_an_utterance_that_was_left_ends_in_the_background(tmp_path: Path) -> None:
    """Its last event is read though nobody asks for it, and it keeps no later one from a new connection."""

    async def run(first: Server) -> None:
        async with AsyncSwar(first.url, "good") as s, s.connect() as sock:
            await sock.open()
            u = await sock.say(LONG)
            async for e in u:
                if isinstance(e, Audio):
                    break
            await u.leave()
            assert [e async for e in u] == []
            async for e in await sock.say("Namaste!"):  # at once, behind what was left
                assert e.request_id != u.request_id
            await asyncio.gather(*sock._settling)
            u = await sock.say(LONG)
            await u.__anext__()
            await u.leave()
            first.process.kill()
            await asyncio.to_thread(first.process.wait)
            second = await asyncio.to_thread(Server, tmp_path, first.port)
            try:
                assert isinstance([e async for e in await sock.say("Namaste!")][-1], End)
            finally:
                second.stop()

    asyncio.run(run(Server(tmp_path)))


def test_the_next_utterance_waits_for_no_reader(server: Server) -> None:
    """The first one has nothing to say yet, so that no message comes."""

    async def run() -> None:
        async with AsyncSwar(server.url, "good") as s, s.connect() as sock:
            first = await sock.utterance()
            await first.append("Namaste")
            reading = asyncio.create_task(first.read())
            await asyncio.sleep(0)
            second = await asyncio.wait_for(sock.utterance(), 5)
            await second.clear()  # nothing was sent: it is over
            assert [e async for e in second] == []
            await first.flush()
            await first.finish()
            assert len(await reading) > 3840
            nothing = await sock.utterance()
            await nothing.flush()
            await nothing.finish()
            assert [type(e) for e in [e async for e in nothing]] == [Flushed, End]

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


def spoken(*words: str, start: float = 0) -> list[swar.Word]:
    return [swar.Word(w, 0, 0, start + i, start + i + 1) for i, w in enumerate(words)]


def test_written_words_take_the_times_of_what_they_became() -> None:
    text = swar.Written()
    for piece in ["Aap", "ka OTP 40", "7 hai. — 🙂 Kal ₹50", "0!"]:
        text.append(piece)
    got = text.words(spoken("Aapka", "ओ", "टी", "पी", "चार", "शून्य", "सात", "hai"))
    assert [(w.word, w.start_s, w.end_s) for w in got] == [("Aapka", 0, 1), ("OTP", 1, 4), ("407", 4, 7), ("hai.", 7, 8)]
    assert [text.text[w.char_start:w.char_end] for w in got] == ["Aapka", "OTP", "407", "hai."]
    assert [w.word for w in text.words(spoken("Kal", "पाँच", "सौ", "रुपये", start=8))] == ["Kal"]
    assert [(w.word, w.start_s, w.end_s) for w in text.rest()] == [("₹500!", 9, 12)]
    assert text.rest() == []


@pytest.mark.parametrize(("text", "said", "want"), [
    ("", "", []),
    ("🙂", "", []),
    ("Namaste!", "namaste", ["Namaste! 0-1"]),
    ("See https://a.example/b now", "See now", ["See 0-1", "https://a.example/b 1-1", "now 1-2"]),
    ("नमस्ते, आप", "नमस्ते आप", ["नमस्ते, 0-1", "आप 1-2"]),
    ("Hai.", "यह ए आई है Hai", ["Hai. 4-5"]),
])
def test_written_words(text: str, said: str, want: list[str]) -> None:
    written = swar.Written()
    written.append(text)
    words = written.words(spoken(*said.split())) + written.rest()
    assert [f"{w.word} {w.start_s:g}-{w.end_s:g}" for w in words] == want
