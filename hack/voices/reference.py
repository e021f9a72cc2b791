"""Speaks with the published model of Kokoro itself, on ONNX Runtime: each chunk as a whole, with the statistics of its own signal.

As a program, reference.py MODEL, it answers each line {"ids": [...], "voice": FILE} of standard input with a line that counts samples, and
with those, as floats.
"""

import json
import os
import subprocess
import sys

import numpy as np
from server import used

# As in runtime/kokoro: what counts as sound, and how many samples of silence stay before and behind it.
AUDIBLE, LEAD, TRAIL = 0.005, 480, 1200
FRAME = 1920  # samples, of which the last one is filled up with zeros: DNSMOS hears those, some 0.1 of them
GAIN = 1 / 1.5  # the export does not divide by the sum of its windows


class Reference:
    """Speaks as server.Server does, with voices of a bundle."""

    def __init__(self, program, flags, bundle, precision, cache):
        self.program, self.flags = program, flags
        with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
            self.known = {v["name"]: v for v in json.load(f)["voices"]}
        self.weights = subprocess.run("hack/kokoro.sh", check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        self.ids = os.path.join(cache, "reference")
        subprocess.run(["go", "build", "-o", self.ids, "./runtime/kokoro/internal/reference"], check=True)
        model = os.path.join(self.weights, "model_int8.onnx")
        if precision == "fp32":
            floats = os.path.join(cache, "model_f32.onnx")
            if os.path.exists(floats):
                os.remove(floats)  # of another release
            subprocess.run([self.ids, "-model", model, "-floats", floats], check=True, stdin=subprocess.DEVNULL)
            model = floats
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, __file__, model], stdin=pipe, stdout=pipe)

    def voices(self):
        return list(self.known)

    def speak(self, voice, text):
        known = self.known[voice]
        file = os.path.join(self.weights, "voices", known["source"] + ".bin")
        command = [self.program, "normalize", "--engine-text", "--json", *self.flags, text]
        chunks = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        lines = "".join(c["engine_text"] + "\n" for c in chunks)
        ids = subprocess.run([self.ids], check=True, input=lines.encode(), stdout=subprocess.PIPE).stdout
        before, parts = self.cpu(), []
        for line in ids.splitlines():
            self.process.stdin.write(json.dumps({"ids": json.loads(line), "voice": file}).encode() + b"\n")
            self.process.stdin.flush()
            n = int(self.process.stdout.readline())
            x = np.frombuffer(self.process.stdout.read(4 * n), np.float32)
            parts.append(trimmed(x * GAIN * 10 ** (known["gain_db"] / 20)))
        x = np.concatenate(parts)
        x = np.append(x, np.zeros(-len(x) % FRAME))
        return np.clip(np.rint(x * 32766), -32768, 32767).astype("<i2").tobytes(), self.cpu() - before

    def cpu(self):
        return used(self.process.pid)[0]

    def memory(self):
        return used(self.process.pid)[1]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def trimmed(x):
    loud = np.nonzero(np.abs(x) > AUDIBLE)[0]
    return x[max(0, loud[0] - LEAD) : loud[-1] + 1 + TRAIL] if len(loud) else x[:0]


def decode(path):
    import onnxruntime

    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])
    for line in sys.stdin:
        asked = json.loads(line)
        ids, styles = asked["ids"], np.fromfile(asked["voice"], np.float32).reshape(-1, 256)
        style = styles[min(len(ids) - 3, len(styles) - 1)]  # of so many ids without the pauses around them, counted from 1
        x = session.run(None, {"tokens": [ids], "style": style[None], "speed": np.ones(1, np.float32)})[0].ravel()
        sys.stdout.buffer.write(b"%d\n" % len(x) + x.astype(np.float32).tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    decode(sys.argv[1])
