"""What a server refuses, as exceptions."""

from __future__ import annotations

import json
from collections.abc import Mapping


class SwarError(Exception):
    """A request that failed. ``status`` is 0 where no server answered."""

    def __init__(
        self, message: str, *, status: int = 0, code: str = "", request_id: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after  # seconds

    def __str__(self) -> str:
        known = [f"status {self.status}"] if self.status else []
        known += [f"request {self.request_id}"] if self.request_id else []
        return f"{self.message} ({', '.join(known)})" if known else self.message


class BusyError(SwarError):
    """The server has no worker free, or is starting. Nothing was billed; try again."""


class AuthError(SwarError):
    """The key is missing, wrong or revoked."""


class TextError(SwarError):
    """The text cannot be spoken: it is empty, too long, or nothing in it can be pronounced."""


class VoiceError(SwarError):
    """The voice is unknown, or the key may not use it."""


class CutError(SwarError):
    """The audio ended before its end. What was read is good; the rest is missing."""


_BY_CODE: dict[str, type[SwarError]] = {
    "text_empty": TextError, "text_too_long": TextError, "too_many_chunks": TextError, "nothing_to_say": TextError, "bad_text": TextError,
    "unknown_voice": VoiceError, "voice_not_allowed": VoiceError,
    "missing_key": AuthError, "invalid_key": AuthError,
    "busy": BusyError, "warming_up": BusyError, "portal_unavailable": BusyError,
}
_BY_STATUS: dict[int, type[SwarError]] = {401: AuthError, 403: AuthError, 503: BusyError, 429: BusyError}


def error_of(
    message: str, status: int, code: str = "", request_id: str = "", retry_after: float | None = None
) -> SwarError:
    """Returns the class that fits: by code, else by status, since a proxy in between knows no codes."""
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, SwarError)
    return kind(message, status=status, code=code, request_id=request_id, retry_after=retry_after)


def error_of_answer(status: int, headers: Mapping[str, str], body: bytes | bytearray) -> SwarError:
    """Reads an HTTP answer that is no success.

    503 with ``{"error": "busy"}`` becomes ``BusyError("busy")``.
    """
    try:
        message = str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):  # of a proxy
        message = bytes(body[:200]).decode("utf-8", "replace").strip() or f"the server answered {status}"
    return error_of(message, status, headers.get("x-error-code", ""), headers.get("x-request-id", ""), seconds(headers.get("retry-after")))


def seconds(retry_after: str | None) -> float | None:
    """Reads Retry-After; dates, which no Swar server sends, count as absent."""
    try:
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:
        return None
