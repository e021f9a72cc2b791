"""What goes over the WebSocket ``/v1/tts/stream``, for frameworks that bring a connection of their own."""

from ._core import SAMPLE_RATE, address, body_of, fields, headers_of, key_of, socket_url
from ._errors import error_of_answer
from ._events import event_of

__all__ = ["SAMPLE_RATE", "address", "body_of", "error_of_answer", "event_of", "fields", "headers_of", "key_of", "socket_url"]
