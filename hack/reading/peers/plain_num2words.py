"""num2words: numbers alone, each found by a pattern, in Hindi beside Devanagari and else in Indian English."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import devanagari, serve
from num2words import num2words


def words(number, hindi):
    language = "hi" if hindi else "en_IN"
    whole, _, fraction = number.partition(".")
    spoken = [num2words(int(whole), lang=language)]
    if fraction:  # its Hindi has no decimals
        spoken += ["दशमलव" if hindi else "point"] + [num2words(int(digit), lang=language) for digit in fraction]
    return " ".join(spoken)


def read(message):
    hindi = devanagari(message)
    return re.sub(r"\d[\d,]*(?:\.\d+)?", lambda m: f" {words(m[0].replace(',', ''), hindi)} ", message)


serve(f"num2words {version('num2words')}", read)
