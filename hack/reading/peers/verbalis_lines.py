"""Verbalis: its Hindi for messages that are mostly Devanagari, its English for the others."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import devanagari, serve
from verbalis import Verbalizer

hindi, english = Verbalizer("hi"), Verbalizer("en")
serve(
    f"Verbalis {version('verbalis')} by script",
    lambda message: (hindi if devanagari(message) else english).process(message),
)
