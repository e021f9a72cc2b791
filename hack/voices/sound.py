"""What can be measured of samples alone: loudness, silence, clipping, and DNSMOS."""

import numpy as np
import onnxruntime

RATE = 24000


def load_dnsmos(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def at_16k(x):
    """Resamples by 2/3 with a windowed sinc of 96 taps a phase; flat to 7.4 kHz."""
    half = 144
    n = np.arange(-half, half + 1)
    low = np.sinc(n / 3 * 0.96) / 3 * 0.96 * np.kaiser(len(n), 8.0)
    up = np.zeros(2 * len(x))
    up[::2] = x
    size = 1 << (len(up) + len(low)).bit_length()
    wide = np.fft.irfft(np.fft.rfft(up, size) * np.fft.rfft(2 * low, size), size)
    return wide[half : half + len(up) : 3]


def dnsmos(session, x16):
    """Returns (overall, signal, background), 1 to 5, of samples at 16 kHz, as speechmos does: short ones are repeated."""
    window, second = int(9.01 * 16000), 16000
    x16 = np.clip(x16, -1, 1).astype(np.float32)
    while len(x16) < window:
        x16 = np.append(x16, x16)
    scores = []
    for start in range(0, len(x16) - window + 1, second):
        part = x16[start : start + window]
        signal, background, overall = session.run(None, {"input_1": part[None]})[0][0]
        scores.append(
            (
                np.polyval([-0.06766283, 1.11546468, 0.04602535], overall),
                np.polyval([-0.08397278, 1.22083953, 0.0052439], signal),
                np.polyval([-0.13166888, 1.60915514, -0.39604546], background),
            )
        )
    return np.mean(scores, axis=0)


def k_response(hertz):
    """Returns what the two filters of ITU-R BS.1770 make of frequencies: a shelf for the head, and a high pass."""
    s = 2j * RATE * np.tan(np.pi * hertz / RATE)  # the bilinear transform
    w = 2 * RATE * np.tan(np.pi * 1681.974450955533 / RATE)
    gain, q = 10 ** (3.999843853973347 / 20), 0.7071752369554196
    shelf = (gain * s**2 + gain**0.4996667741545416 * w / q * s + w**2) / (s**2 + w / q * s + w**2)
    w, q = 2 * RATE * np.tan(np.pi * 38.13547087602444 / RATE), 0.5003270373238773
    return shelf * s**2 / (s**2 + w / q * s + w**2)


def k_weighted(x):
    """Filters x so that a tone of 997 Hz, by which the standard is defined, gains 0.691 dB at any rate."""
    size = 1 << (len(x) + RATE).bit_length()
    response = np.append(k_response(np.fft.rfftfreq(size, 1 / RATE)[:-1]), 0)
    response *= 10 ** (0.691 / 20) / abs(k_response(997.0))
    return np.fft.irfft(np.fft.rfft(x, size) * response, size)[: len(x)]


def loudness(x):
    """Returns the integrated loudness of x in LUFS, -inf for silence: blocks of 400 ms, gated twice."""
    y = k_weighted(x)
    block, step = int(0.4 * RATE), int(0.1 * RATE)
    power = np.array([np.mean(y[i : i + block] ** 2) for i in range(0, len(y) - block + 1, step)])

    def level(p):
        return -0.691 + 10 * np.log10(np.mean(p)) if len(p) and np.mean(p) > 0 else -np.inf

    power = power[power > 10 ** ((-70 + 0.691) / 10)]
    relative = level(power) - 10
    return level(power[power > 10 ** ((relative + 0.691) / 10)])


def edges(x):
    """Returns the seconds below -40 dBFS at the beginning and at the end."""
    loud = np.nonzero(np.abs(x) > 0.01)[0]
    return (loud[0] / RATE, (len(x) - 1 - loud[-1]) / RATE) if len(loud) else (len(x) / RATE, 0.0)


def clipped(samples):
    """Counts the 16-bit samples that are as loud as can be."""
    return int(np.count_nonzero((samples >= 32767) | (samples <= -32768)))


def pitch(x):
    """Returns the median pitch of speech in Hz, by autocorrelation, of those windows of 40 ms that have one; 0 where none has."""
    window, step = int(0.04 * RATE), int(0.01 * RATE)
    shortest, longest = RATE // 400, RATE // 60
    found, loud = [], 0.1 * np.sqrt(np.mean(x**2)) if len(x) else 0
    for start in range(0, len(x) - window + 1, step):
        part = x[start : start + window] * np.hanning(window)
        if np.sqrt(np.mean(part**2)) <= loud:
            continue
        spectrum = np.abs(np.fft.rfft(part, 2 * window)) ** 2
        alike = np.fft.irfft(spectrum)[: longest + 1]
        alike = alike / (alike[0] * (1 - np.arange(longest + 1) / window))  # a window has less to compare the farther apart
        best = shortest + int(np.argmax(alike[shortest:]))
        if alike[best] < 0.5:
            continue
        # Twice the period is as much alike: the first peak that is nearly as high is the period.
        first = next(i for i in range(shortest, best + 1) if alike[i] >= 0.9 * alike[best] and alike[i] >= max(alike[i - 1 : i + 2]) or i == best)
        found.append(RATE / first)
    return float(np.median(found)) if found else 0.0
