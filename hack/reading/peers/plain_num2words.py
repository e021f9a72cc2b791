"""num2words: numbers alone, each found by a pattern, in Indian English, as it has no Hindi."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import serve
from num2words import num2words


def words(number):
    value = float(number) if "." in number else int(number)
    return num2words(value, lang="en_IN")


def read(message):
    return re.sub(r"\d[\d,]*(?:\.\d+)?", lambda m: f" {words(m[0].replace(',', ''))} ", message)


serve(f"num2words {version('num2words')} English", read)
