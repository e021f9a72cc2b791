"""Hinglish speech from a Swar server for agents of LiveKit.

>>> session = AgentSession(tts=swar.TTS(voice="anjura"), ...)
"""

from livekit.agents import Plugin

from .log import logger
from .tts import TTS, ChunkedStream, SynthesizeStream
from .version import __version__

__all__ = ["TTS", "ChunkedStream", "SynthesizeStream", "__version__"]


class SwarPlugin(Plugin):
    def __init__(self) -> None:
        super().__init__(__name__, __version__, __package__ or __name__, logger)


Plugin.register_plugin(SwarPlugin())
