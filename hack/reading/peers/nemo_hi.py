"""NeMo text processing: its Hindi normaliser for every message."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import serve
from nemo_languages import Later

serve(f"NeMo {version('nemo_text_processing')} Hindi", Later("hi"))
