"""Speech of a Swar server, over one WebSocket for all turns of a conversation."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import Any

from livekit.agents import (
    APIConnectionError, APIConnectOptions, APIError, APIStatusError, APITimeoutError, DEFAULT_API_CONNECT_OPTIONS, tts, utils,
)
from livekit.agents.types import NOT_GIVEN, NotGivenOr, TimedString
from livekit.agents.utils import is_given
from swar import Audio, AsyncSwar, AsyncUtterance, End, SwarError, Word, Words, Written

SAMPLE_RATE = 24000
_SILENCE = bytes(SAMPLE_RATE * 80 // 1000 * 2)


@dataclass
class _Options:
    voice: str | None
    seed: int | None
    temperature: float | None
    en_digits: bool
    lexicon: str | None

    def fields(self) -> dict[str, Any]:
        return asdict(self)


class TTS(tts.TTS[str]):
    """Hinglish speech of a Swar server.

    Args:
        voice: A voice of the server; its default where None.
        base_url: The address of the server, such as ``https://tts.example.com``; SWAR_SERVER where None.
        api_key: A key of the server; SWAR_KEY where None.
        seed: Speaks the same text in the same way again.
        temperature: How much the intonation varies, from 0 to 2.
        en_digits: Reads numbers in English also in Hindi sentences.
        lexicon: The lexicon that says how words are read, or "none"; that of the key's project where None.

    One object serves one conversation: its turns are spoken one after another. It belongs to one event loop.
    """

    def __init__(
        self, *, voice: str | None = None, base_url: str | None = None, api_key: str | None = None, seed: int | None = None,
        temperature: float | None = None, en_digits: bool = False, lexicon: str | None = None,
    ) -> None:
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=True, aligned_transcript=True), sample_rate=SAMPLE_RATE, num_channels=1,
        )
        self._options = _Options(voice, seed, temperature, en_digits, lexicon)
        self._client = AsyncSwar(base_url, api_key, retries=0)  # the framework tries again
        self._socket = self._client.connect()
        self._connecting: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        return "swar-1"

    @property
    def provider(self) -> str:
        return "Swar"

    def update_options(
        self, *, voice: NotGivenOr[str] = NOT_GIVEN, seed: NotGivenOr[int] = NOT_GIVEN, temperature: NotGivenOr[float] = NOT_GIVEN,
        en_digits: NotGivenOr[bool] = NOT_GIVEN, lexicon: NotGivenOr[str] = NOT_GIVEN,
    ) -> None:
        """Changes how the next turns are spoken."""
        given: dict[str, Any] = {"voice": voice, "seed": seed, "temperature": temperature, "en_digits": en_digits, "lexicon": lexicon}
        self._options = replace(self._options, **{name: value for name, value in given.items() if is_given(value)})

    def prewarm(self) -> None:
        """Connects in the background, so that the first turn does not wait for it."""

        async def connect() -> None:
            try:
                await self._socket.open()
            except SwarError:
                pass  # the first turn says why

        self._connecting = asyncio.create_task(connect())

    def synthesize(self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS) -> ChunkedStream:
        return ChunkedStream(tts=self, input_text=text, conn_options=conn_options)

    def stream(self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS) -> SynthesizeStream:
        return SynthesizeStream(tts=self, conn_options=conn_options)

    async def aclose(self) -> None:
        if self._connecting is not None:
            await utils.aio.cancel_and_wait(self._connecting)
        await self._socket.close()
        await self._client.close()


class ChunkedStream(tts.ChunkedStream):
    """A whole text, over HTTP."""

    def __init__(self, *, tts: TTS, input_text: str, conn_options: APIConnectOptions) -> None:
        super().__init__(tts=tts, input_text=input_text, conn_options=conn_options)
        self._client, self._options = tts._client, replace(tts._options)

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        try:
            take = await asyncio.wait_for(
                self._client.speak(self._input_text, format="pcm16", **self._options.fields()), self._conn_options.timeout,
            )
            output_emitter.initialize(
                request_id=take.request_id, sample_rate=SAMPLE_RATE, num_channels=1, mime_type="audio/pcm",
            )
            async for data in take.iter_bytes():
                output_emitter.push(data)
            output_emitter.flush()
        except SwarError as e:
            raise _api_error(e) from e
        except asyncio.TimeoutError:
            raise APITimeoutError() from None


class SynthesizeStream(tts.SynthesizeStream):
    """One turn: an utterance on the socket, which is fed with each piece of text as it is pushed."""

    def __init__(self, *, tts: TTS, conn_options: APIConnectOptions) -> None:
        super().__init__(tts=tts, conn_options=conn_options)
        self._socket, self._options = tts._socket, replace(tts._options)

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        try:
            utterance = await asyncio.wait_for(
                self._socket.utterance(timestamps="words", **self._options.fields()), self._conn_options.timeout,
            )
        except SwarError as e:
            raise _api_error(e) from e
        except asyncio.TimeoutError:
            raise APITimeoutError() from None
        output_emitter.initialize(
            request_id=utterance.request_id, sample_rate=SAMPLE_RATE, num_channels=1, mime_type="audio/pcm", stream=True,
        )
        output_emitter.start_segment(segment_id=utterance.request_id)
        written = Written()
        feeding = asyncio.create_task(self._feed(utterance, written))
        listening = asyncio.create_task(self._listen(utterance, written, output_emitter))
        try:
            done, _ = await asyncio.wait([feeding, listening], return_when=asyncio.FIRST_COMPLETED)
            if feeding in done:
                feeding.result()
            await listening
            if not feeding.done():
                raise APIError("the turn was over before its text: none came for 30 s while another turn waited", retryable=False)
        except SwarError as e:
            raise _api_error(e) from e
        finally:
            await utterance.leave()  # also when all text was sent: what nobody hears is not spoken, nor billed
            await utils.aio.cancel_and_wait(feeding, listening)

    async def _feed(self, utterance: AsyncUtterance, written: Written) -> None:
        async for data in self._input_ch:
            if isinstance(data, self._FlushSentinel):
                await utterance.flush()
            else:
                self._mark_started()
                written.append(data)
                await utterance.append(data)
        await utterance.finish()

    async def _listen(self, utterance: AsyncUtterance, written: Written, output_emitter: tts.AudioEmitter) -> None:
        place = 0
        async for event in utterance:
            words: list[Word] = []
            if isinstance(event, Audio):
                output_emitter.push(event.pcm)
            elif isinstance(event, Words):
                words = written.words(event.words)
            elif isinstance(event, End):
                words = written.rest()
                if event.frames == 0:  # LiveKit takes a turn without audio for a failure, and tries it again
                    output_emitter.push(_SILENCE)
            for word in words:  # with the white space and the marks before it, so that the pieces are the text
                text = written.text[place:word.char_end]
                output_emitter.push_timed_transcript(TimedString(text, start_time=word.start_s, end_time=word.end_s))
                place = word.char_end


def _api_error(e: SwarError) -> APIError:
    if e.status == 0:  # nobody answered, or the connection was lost
        return APIConnectionError(e.message)
    return APIStatusError(
        e.message, status_code=e.status, request_id=e.request_id or None, body=None, retryable=e.status in (408, 429) or e.status >= 500,
    )
