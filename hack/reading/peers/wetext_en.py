"""WeText: its English normaliser for every message."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shared"))

from importlib.metadata import version

from lines import serve
from wetext import Normalizer

serve(f"WeText {version('wetext')} English", Normalizer(lang="en", operator="tn").normalize)
