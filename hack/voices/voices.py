"""Measures voices: how clean they sound, what a recogniser understands, and what they cost.

  voices.py [--swar FILE] [--docs FILE] [--keep FOLDER] [--every N] [--sentences FILE] [--reference | --speeds | --pictures FOLDER] MODEL[:VOICE,VOICE]...

MODEL is espeak, the name of a pulled model, or the folder of a bundle. Each runs on a server of its own, with one worker and
cold caches. A row of the table in --docs is replaced; rows of other voices stay. --reference measures voices of Kokoro also as the
published model speaks them, see reference.py. --speeds measures how voices sound slower and faster, in a table of its own, and
--pictures draws a sentence of each.
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
import spectrogram
from faster_whisper import WhisperModel

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = ["hi", "en", "hinglish"]
COLUMNS = ["voice", "DNSMOS overall", "signal", "background", *(f"errors {name}" for name in LANGUAGES)]
COLUMNS += ["first audio ms, median / worst", "RTF", "memory MiB", "silence ms, front / end"]
COLUMNS += ["clipped", "peak", "LUFS", "measured"]
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->"

SPEEDS = [0.5, 0.8, 1, 1.25, 1.5]
SPEED_COLUMNS = ["voice and speed", "length", "pitch Hz", "DNSMOS overall", *(f"errors {name}" for name in LANGUAGES), "measured"]
SPEED_BEGIN, SPEED_END = "<!-- speeds -->\n", "<!-- end of speeds -->"

DRAWN = "hi01"  # the sentence of the pictures


def sentences(every, file="sentences.tsv"):
    """Yields (id, language, text, reading, words); every N-th, for a quick try."""
    with open(os.path.join(HERE, file), encoding="utf-8") as f:
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


def measure(judges, running, row, every, keep, file="sentences.tsv"):
    """Returns the row of a voice. row names the model, the voice and how it speaks."""
    model, voice, how = row
    name_of_row = f"{os.path.basename(model)} {voice}{how}"
    dnsmos, whisper = judges
    scores, firsts, fronts, ends, takes = [], [], [], [], []
    errors = {language: [] for language in LANGUAGES}
    clipped, cpu, seconds = 0, 0.0, 0.0
    for name, language, text, reading, words in sentences(every, file):
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


def measure_speed(judges, running, row, every, keep):
    """Returns the row of a voice at a speed. Its length is that of all sentences, as a part of what they have at speed 1."""
    model, voice, speed = row
    dnsmos, whisper = judges
    name_of_row = f"{os.path.basename(model)} {voice} {speed:g}"
    scores, pitches, seconds, normal = [], [], 0.0, 0.0
    errors = {language: [] for language in LANGUAGES}
    for name, language, text, reading, words in sentences(every):
        raw = running.speak_at(speed, voice, text)
        x = np.frombuffer(raw, "<i2") / 32768
        x16 = sound.at_16k(x)
        scores.append(sound.dnsmos(dnsmos, x16)[0])
        written = recognise(whisper, x16, language)
        errors[language].append(letters.error_rate(language, reading, written, words))
        pitches.append(sound.pitch(x))
        seconds += len(x) / sound.RATE
        normal += len(running.speak_at(1, voice, text)) / 2 / sound.RATE
        print(f"{name_of_row} {name}: errors {errors[language][-1]:.2f}, DNSMOS {scores[-1]:.2f}: {written}", file=sys.stderr)
        if keep:
            save(os.path.join(keep, f"{name_of_row} {name}.wav".replace(" ", "-")), raw)
    return [
        name_of_row,
        f"{seconds / normal:.2f}",
        f"{statistics.median(pitches):.0f}",
        f"{statistics.mean(scores):.2f}",
        *(f"{statistics.mean(e):.2f}" if e else "" for e in errors.values()),
        time.strftime("%Y-%m-%d"),
    ]


def picture(folder, running, model, voice):
    """Draws a sentence that a voice speaks."""
    text = next(text for name, _, text, _, _ in sentences(1) if name == DRAWN)
    raw, _ = running.speak(voice, text)
    path = os.path.join(folder, f"spectrogram-{os.path.basename(model)}-{voice}.png")
    spectrogram.draw(path, np.frombuffer(raw, "<i2") / 32768)
    print(path)


def save(path, raw):
    with wave.open(path, "wb") as w:
        w.setparams((1, 2, sound.RATE, 0, "NONE", ""))
        w.writeframes(raw)


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def write(path, rows, columns=COLUMNS, begin=BEGIN, end=END):
    """Puts rows into a table of a page, in the place of those of the same voices."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(begin)
    old, after = rest.split(end)
    table = [[c.strip() for c in row.strip("| \n").split(" | ")] for row in old.strip().splitlines()[2:]]
    new = {row[0]: row for row in rows}
    table = [new.pop(row[0], row) for row in table] + list(new.values())
    body = line(columns) + "|---" + "|---:" * (len(columns) - 1) + "|\n" + "".join(map(line, table))
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + begin + "\n" + body + "\n" + end + after)


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


def parse():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--swar", default="bin/swar", help="the program")
    args.add_argument("--cache", default=".cache/voices", help="where install.sh has put the judges")
    args.add_argument("--docs", help="a page to write the table into, between its markers")
    args.add_argument("--keep", help="a folder to keep the audio in, to listen to")
    args.add_argument("--every", type=int, default=1, help="take each N-th sentence only")
    args.add_argument("--sentences", default="sentences.tsv", metavar="FILE", help="measure by other sentences, such as held-out.tsv")
    args.add_argument("--reference", action="store_true", help="measure the published model, too")
    args.add_argument("--speeds", action="store_true", help="measure other speeds, by every sixth sentence unless --every says another")
    args.add_argument("--pictures", metavar="FOLDER", help="only draw a sentence of each voice, as PNG")
    args.add_argument("models", nargs="*", default=["espeak"])
    o = args.parse_args()
    if o.speeds and o.every == 1:
        o.every = 6
    if o.docs and o.sentences != "sentences.tsv":
        raise SystemExit("voices: --docs holds measures of the usual sentences: leave --sentences out")
    if o.docs and o.every != 1 and not o.speeds:
        raise SystemExit("voices: --docs holds measures of all sentences: leave --every out")
    return o


def rows(o, judges, running, model, voice, how):
    """Yields the rows of a voice."""
    if o.speeds:
        for speed in SPEEDS:
            yield measure_speed(judges, running, (model, voice, speed), o.every, o.keep)
    else:
        yield measure(judges, running, (model, voice, how), o.every, o.keep, o.sentences)


def main():
    o = parse()
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    table = (SPEED_COLUMNS, SPEED_BEGIN, SPEED_END) if o.speeds else (COLUMNS, BEGIN, END)
    judges = None
    if not o.pictures:
        judges = (
            sound.load_dnsmos(os.path.join(o.cache, "dnsmos.onnx")),
            WhisperModel(os.path.join(o.cache, "whisper"), device="cpu", compute_type="int8", cpu_threads=1),
        )
        print(line(table[0]) + "|---" * len(table[0]) + "|")
    for spec in o.models:
        model, _, voices = spec.partition(":")
        for how, start in speakers(o, model):
            running = start()
            try:
                for voice in voices.split(",") if voices else running.voices():
                    if o.pictures:
                        picture(o.pictures, running, model, voice)
                        continue
                    for row in rows(o, judges, running, model, voice, how):
                        print(line(row), end="", flush=True)
                        if o.docs:
                            write(o.docs, [row], *table)
            finally:
                running.close()


if __name__ == "__main__":
    main()
