"""NeMo text processing: its Hindi normaliser for messages that are mostly Devanagari, its English one for the others."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import devanagari, serve
from nemo_languages import Later

hindi, english = Later("hi"), Later("en")
serve(
    f"NeMo {version('nemo_text_processing')} by script",
    lambda message: (hindi if devanagari(message) else english)(message),
)
