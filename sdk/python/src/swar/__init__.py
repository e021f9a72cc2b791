"""Hinglish speech from a Swar server.

>>> with Swar("http://127.0.0.1:8080", key="KEY") as s:
...     s.speak("Namaste! Total ₹499 hai.").save("namaste.wav")

``Swar`` blocks, ``AsyncSwar`` has the same names for asyncio.
"""

from ._async import AsyncSocket, AsyncSwar, AsyncTake, AsyncUtterance
from ._core import Normalized, Voice
from ._errors import AuthError, BusyError, CutError, SwarError, TextError, VoiceError
from ._events import Audio, Cancelled, Chunk, ChunkEnd, End, Event, FirstAudio, Flushed, Start, Word, Words
from ._sync import Socket, Swar, Take, Utterance
from ._written import Written

__version__ = "0.9.0"

__all__ = [
    "AsyncSocket", "AsyncSwar", "AsyncTake", "AsyncUtterance", "Audio", "AuthError", "BusyError", "Cancelled", "Chunk", "ChunkEnd",
    "CutError", "End", "Event", "FirstAudio", "Flushed", "Normalized", "Socket", "Start", "Swar", "SwarError", "Take", "TextError",
    "Utterance", "Voice", "VoiceError", "Word", "Words", "Written",
]
