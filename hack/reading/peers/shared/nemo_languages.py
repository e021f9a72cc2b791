"""The normalisers of NeMo text processing, compiled once into .cache/reading/nemo."""

import logging
import os

logging.disable(logging.INFO)


class Later:
    """Compiles its grammar with the first message, so that asking for a name takes no minute."""

    def __init__(self, language):
        from nemo_text_processing.text_normalization.normalize import Normalizer

        self.make = Normalizer
        self.language = language
        self.normalizer = None

    def __call__(self, message):
        if self.normalizer is None:
            # A folder each: version 1.2.0 keeps the verbaliser of Hindi under the name of the English one.
            cache = os.path.join(".cache", "reading", "nemo", self.language)
            os.makedirs(cache, exist_ok=True)
            self.normalizer = self.make(input_case="cased", lang=self.language, cache_dir=cache)
        return self.normalizer.normalize(message, punct_post_process=True)
