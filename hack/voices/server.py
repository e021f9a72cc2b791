"""Runs a server of ours and speaks with it, as a client would."""

import http.client
import json
import os
import socket
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")


def used(pid):
    """Returns the seconds of processor that a process has used, with programs that it has run and that have ended, and the most memory
    that it has had, in MiB."""
    with open(f"/proc/{pid}/stat") as f:
        ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:15]))
    with open(f"/proc/{pid}/status") as f:
        return ticks / TICK, next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


class Server:
    """One process of `swar serve` with one worker, until close."""

    def __init__(self, program, flags):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program, "serve", "--portal", "off", "--listen", f"127.0.0.1:{self.port}", "--workers", "1", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )
        end = time.monotonic() + 300
        while not self._ready():
            if self.process.poll() is not None:
                raise SystemExit(f"voices: swar serve {' '.join(flags)} ended: {self.said()}")
            if time.monotonic() > end:
                self.close()
                raise SystemExit("voices: the server was not ready in 5 minutes")
            time.sleep(0.1)

    def _ready(self):
        try:
            return self._ask("GET", "/readyz").status == 200
        except OSError:
            return False

    def _ask(self, method, path, body=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        self.connection.request(method, path, body and json.dumps(body))
        return self.connection.getresponse()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def voices(self):
        return [v["name"] for v in json.load(self._ask("GET", "/v1/voices"))["voices"]]

    def speak(self, voice, text):
        """Returns the 16-bit samples as bytes, and the seconds until the first of them."""
        start = time.monotonic()
        answer = self._ask("POST", "/v1/tts", {"text": text, "voice": voice, "format": "pcm16", "seed": 1})
        if answer.status != 200:
            raise SystemExit(f"voices: {voice} does not speak {text!r}: {answer.status} {answer.read().decode()}\n{self.said()}")
        first = answer.read(2)
        seconds = time.monotonic() - start
        return first + answer.read(), seconds

    def speak_at(self, speed, voice, text):
        """Returns the 16-bit samples as bytes, at another speed, which clients of OpenAI can ask for."""
        asked = {"model": "tts-1", "input": text, "voice": voice, "speed": speed, "response_format": "pcm"}
        answer = self._ask("POST", "/v1/audio/speech", asked)
        if answer.status != 200:
            raise SystemExit(f"voices: {voice} does not speak at {speed}: {answer.status} {answer.read().decode()}\n{self.said()}")
        return answer.read()

    def cpu(self):
        return used(self.process.pid)[0]

    def memory(self):
        return used(self.process.pid)[1]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
