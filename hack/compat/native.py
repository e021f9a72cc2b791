"""What the native API speaks, to compare with: the length of audio that came by another one."""

import functools
import json
import os
import re
import subprocess
import urllib.request

NEAR = 0.080 + 1e-5  # seconds, with less than a sample for callers that add up floating-point lengths of frames


@functools.cache
def takes(text: str, voice: str) -> tuple[float, float]:
    """The seconds of the shortest and of the longest of 60 takes: voices of espeak-ng vary by two frames."""
    lengths = []
    for seed in range(60):
        body = {"text": text, "voice": voice, "format": "pcm16", "seed": seed}
        headers = {"content-type": "application/json", "x-api-key": os.environ["SWAR_COMPAT_KEY"]}
        with urllib.request.urlopen(urllib.request.Request(os.environ["SWAR_COMPAT"] + "/v1/tts", json.dumps(body).encode(), headers)) as answer:
            lengths.append(len(answer.read()) / 48_000)
    return min(lengths), max(lengths)


@functools.cache
def cuts(text: str, voice: str) -> tuple[float, float]:
    """The same of a text that comes in pieces: any number of its sentences may be spoken together, and then the others."""
    low, high = takes(text, voice)
    for end in re.finditer(r"[.!?।] ", text):
        first, rest = takes(text[:end.end()], voice), cuts(text[end.end():], voice)
        low, high = min(low, first[0] + rest[0]), max(high, first[1] + rest[1])
    return low, high


def near(seconds: float, text: str, voice: str, what: object = "", speed: float = 1, pieces: bool = False) -> None:
    """Asserts that audio is as long as a take of the native API, within 80 ms; with pieces, as takes of its sentences."""
    low, high = (cuts if pieces else takes)(text, voice)
    assert low / speed - NEAR <= seconds <= high / speed + NEAR, f"{what}: {seconds:.3f} s, natively {low / speed:.2f} to {high / speed:.2f}"


def decoded(audio: bytes) -> float:
    """The seconds that ffmpeg decodes of a file or a stream."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-f", "s16le", "-ac", "1", "-ar", "24000", "-"]
    return len(subprocess.run(command, input=audio, stdout=subprocess.PIPE, check=True).stdout) / 48_000
