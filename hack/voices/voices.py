"""Measures voices: how clean they sound, what a recogniser understands, and what they cost.

  voices.py [--swar FILE] [--docs FILE] [--keep FOLDER] [--every N] [--reference] MODEL[:VOICE,VOICE]...

MODEL is espeak, the name of a pulled model, or the folder of a bundle. Each runs on a server of its own, with one worker and
cold caches. A row of the table in --docs is replaced; rows of other voices stay. --reference measures voices of Kokoro also as the
published model speaks them, see reference.py.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import wave

import letters
import numpy as np
import reference
import server
import sound
from faster_whisper import WhisperModel

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = ["hi", "en", "hinglish"]
COLUMNS = ["voice", "DNSMOS overall", "signal", "background", *(f"errors {name}" for name in LANGUAGES)]
COLUMNS += ["first audio ms, median / worst", "RTF", "memory MiB", "silence ms, front / end"]
COLUMNS += ["clipped", "peak", "LUFS", "measured"]
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->"


def sentences(every):
    """Yields (id, language, text, reading, words); every N-th, for a quick try."""
    with open(os.path.join(HERE, "sentences.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    for row in rows[::every]:
        name, language, text, reading, words = (row + ["", ""])[:5]
        yield name, language, text, reading or text, [tuple(w.split("=")) for w in words.split()]


def recognise(model, x16, language):
    """Returns what the recogniser writes. Hindi it takes for Urdu, which sounds the same and which it knows better."""
    segments, _ = model.transcribe(
        x16.astype(np.float32),
        language="en" if language == "en" else "ur",
        beam_size=5,
        temperature=0.0,
        no_repeat_ngram_size=8,  # or it goes round in circles where it understands nothing
        max_new_tokens=160,
        condition_on_previous_text=False,
        without_timestamps=True,
    )
    return " ".join(s.text for s in segments)


def measure(judges, running, row, every, keep):
    """Returns the row of a voice. row names the model, the voice and how it speaks."""
    model, voice, how = row
    name_of_row = f"{os.path.basename(model)} {voice}{how}"
    dnsmos, whisper = judges
    scores, firsts, fronts, ends, takes = [], [], [], [], []
    errors = {language: [] for language in LANGUAGES}
    clipped, cpu, seconds = 0, 0.0, 0.0
    for name, language, text, reading, words in sentences(every):
        before = running.cpu()
        raw, first = running.speak(voice, text)
        cpu += running.cpu() - before
        samples = np.frombuffer(raw, "<i2")
        x = samples / 32768
        x16 = sound.at_16k(x)
        scores.append(sound.dnsmos(dnsmos, x16))
        written = recognise(whisper, x16, language)
        errors[language].append(letters.error_rate(language, reading, written, words))
        front, end = sound.edges(x)
        firsts.append(first), fronts.append(front), ends.append(end), takes.append(x)
        clipped += sound.clipped(samples)
        seconds += len(x) / sound.RATE
        found = f"errors {errors[language][-1]:.2f}, DNSMOS {scores[-1][0]:.2f}: {written}"
        print(f"{name_of_row} {name}: {found}", file=sys.stderr)
        if keep:
            save(os.path.join(keep, f"{name_of_row} {name}.wav".replace(",", "").replace(" ", "-")), raw)
    overall, signal, background = np.mean(scores, axis=0)
    everything = np.concatenate(takes)
    return [
        name_of_row,
        f"{overall:.2f}",
        f"{signal:.2f}",
        f"{background:.2f}",
        *(f"{statistics.mean(e):.2f}" if e else "" for e in errors.values()),
        f"{1000 * statistics.median(firsts):.0f} / {1000 * max(firsts):.0f}",
        f"{cpu / seconds:.3f}",
        f"{running.memory():.0f}",
        f"{1000 * statistics.median(fronts):.0f} / {1000 * statistics.median(ends):.0f}",
        f"{clipped}",
        f"{np.max(np.abs(everything)):.2f}",
        f"{sound.loudness(everything):.1f}",
        time.strftime("%Y-%m-%d"),
    ]


def save(path, raw):
    with wave.open(path, "wb") as w:
        w.setparams((1, 2, sound.RATE, 0, "NONE", ""))
        w.writeframes(raw)


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def write(path, rows):
    """Puts rows into the table of a page, in the place of those of the same voices."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    table = [[c.strip() for c in row.strip("| \n").split(" | ")] for row in old.strip().splitlines()[2:]]
    new = {row[0]: row for row in rows}
    table = [new.pop(row[0], row) for row in table] + list(new.values())
    body = line(COLUMNS) + "|---" + "|---:" * (len(COLUMNS) - 1) + "|\n" + "".join(map(line, table))
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + "\n" + body + "\n" + END + after)


def flags_of(model):
    if model == "espeak":
        return ["--engine", "espeak"]
    return ["--bundle" if os.path.isdir(model) else "--model", model]


def folder_of(swar, model):
    """Returns the folder of a bundle."""
    if os.path.isdir(model):
        return model
    shown = subprocess.run([swar, "model", "show", model, "--json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(shown)["folder"]


def speakers(o, model):
    """Yields what speaks the voices of a model, and how."""
    yield "", lambda: server.Server(o.swar, flags_of(model))
    if not o.reference or model == "espeak":
        return
    bundle = folder_of(o.swar, model)
    for precision in ("int8", "fp32"):
        yield f", reference in {precision}", lambda: reference.Reference(o.swar, flags_of(model), bundle, precision, o.cache)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--swar", default="bin/swar", help="the program")
    args.add_argument("--cache", default=".cache/voices", help="where install.sh has put the judges")
    args.add_argument("--docs", help="a page to write the table into, between its markers")
    args.add_argument("--keep", help="a folder to keep the audio in, to listen to")
    args.add_argument("--every", type=int, default=1, help="take each N-th sentence only")
    args.add_argument("--reference", action="store_true", help="measure the published model, too")
    args.add_argument("models", nargs="*", default=["espeak"])
    o = args.parse_args()
    if o.docs and o.every != 1:
        raise SystemExit("voices: --docs holds measures of all sentences: leave --every out")
    judges = (
        sound.load_dnsmos(os.path.join(o.cache, "dnsmos.onnx")),
        WhisperModel(os.path.join(o.cache, "whisper"), device="cpu", compute_type="int8", cpu_threads=1),
    )
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print(line(COLUMNS) + "|---" * len(COLUMNS) + "|")
    for spec in o.models:
        model, _, voices = spec.partition(":")
        for how, start in speakers(o, model):
            running = start()
            try:
                for voice in voices.split(",") if voices else running.voices():
                    row = measure(judges, running, (model, voice, how), o.every, o.keep)
                    print(line(row), end="", flush=True)
                    if o.docs:
                        write(o.docs, [row])
            finally:
                running.close()


if __name__ == "__main__":
    main()
