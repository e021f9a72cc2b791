"""indic-numtowords: numbers alone, each found by a pattern, in Hindi beside Devanagari and else in English."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import devanagari, serve
from indic_numtowords import num2words


def words(number, hindi):
    spoken = num2words(number, lang="hi" if hindi else "en")
    return spoken[0] if isinstance(spoken, list) else spoken


def read(message):
    hindi = devanagari(message)
    return re.sub(r"\d[\d,]*", lambda m: f" {words(m[0].replace(',', ''), hindi)} ", message)


serve(f"indic-numtowords {version('indic-numtowords')}", read)
