"""indic-tts-preprocess: its Hindi for messages that are mostly Devanagari, its English for the others."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import devanagari, serve
from indic_tts_preprocess import preprocess

serve(
    f"indic-tts-preprocess {version('indic-tts-preprocess')}",
    lambda message: preprocess(message, "hi" if devanagari(message) else "en"),
)
