"""Draws what frequencies speech has, as PNG, with nothing but numpy."""

import struct
import zlib

import numpy as np
import sound

HEIGHT, TOP = 320, 8000  # pixels, and the hertz of the uppermost
STEP = 0.004  # seconds of a column
FLOOR = 70  # dB below the loudest, and what is less is as dark
TICK = 6


def image(x):
    """Returns grey rows, top first: light is loud. On the left edge stands a tick for each kHz, below one for each half second."""
    window, step = int(0.03 * sound.RATE), int(STEP * sound.RATE)
    size = 2 * sound.RATE * HEIGHT // (2 * TOP)  # bins are pixels
    columns = []
    for start in range(0, max(len(x) - window, 0) + 1, step):
        part = x[start : start + window]
        power = np.abs(np.fft.rfft(part * np.hanning(len(part)), size)[:HEIGHT]) ** 2
        columns.append(10 * np.log10(power + 1e-12))
    db = np.array(columns).T[::-1]
    grey = np.clip(1 + (db - db.max()) / FLOOR, 0, 1)
    drawn = np.zeros((HEIGHT + TICK, grey.shape[1] + TICK), np.uint8)
    drawn[:HEIGHT, TICK:] = np.rint(grey * 15) * 17  # sixteen greys are as clear, and half as many bytes
    for kilohertz in range(TOP // 1000 + 1):
        drawn[(HEIGHT - 1) * (TOP - 1000 * kilohertz) // TOP, :TICK] = 255
    drawn[HEIGHT:, TICK :: int(0.5 / STEP)] = 255
    return drawn


def png(grey):
    """Returns the bytes of a file with these rows of greys, of which there are sixteen."""
    rows, columns = grey.shape
    packed = np.pad(grey // 17, ((0, 0), (0, columns % 2)))
    packed = packed[:, ::2] << 4 | packed[:, 1::2]
    raw = b"".join(b"\0" + row.tobytes() for row in packed)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 4, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def draw(path, x):
    with open(path, "wb") as f:
        f.write(png(image(x)))
