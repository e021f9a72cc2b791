#
# Copyright (c) 2026, The Swar Authors
#
# SPDX-License-Identifier: BSD-2-Clause
#

"""Speech of a Swar server, over a WebSocket or over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pipecat.frames.frames import ErrorFrame, Frame, InterruptionFrame, TTSAudioRawFrame, TTSStoppedFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TextAggregationMode, TTSService, WebsocketTTSService
from pipecat.utils.tracing.service_decorators import traced_tts
from pipecat.utils.types import NOT_GIVEN, NotGiven
from swar import AsyncSwar, Cancelled, End, Start, SwarError, Word, Words, Written, wire
from websockets.protocol import State

_SILENCE = bytes(wire.SAMPLE_RATE * 80 // 1000 * 2)


@dataclass
class SwarTTSSettings(TTSSettings):
    """Settings for SwarTTSService and SwarHttpTTSService.

    ``model`` and ``language`` are labels: a server has one model, and its voices read Hindi and English in one sentence.

    Parameters:
        seed: Speaks the same text in the same way again.
        lexicon: The lexicon that says how words are read, or "none". Without one it is that of the key's project.
    """

    seed: int | None | NotGiven = field(default_factory=lambda: NOT_GIVEN)
    lexicon: str | None | NotGiven = field(default_factory=lambda: NOT_GIVEN)


def _complete(settings: SwarTTSSettings | None) -> SwarTTSSettings:
    """Fills in what was not given, as the store of a service wants it."""
    complete = SwarTTSSettings(model="swar-1", voice=None, language=None, seed=None, lexicon=None)
    if settings is not None:
        complete.apply_update(settings)
    return complete


def _fields(settings: SwarTTSSettings) -> dict[str, Any]:
    """Returns the members of a request that settings stand for."""
    return wire.fields(voice=settings.voice, seed=settings.seed, lexicon=settings.lexicon)


class SwarTTSService(WebsocketTTSService):
    """Speech over one WebSocket for all turns, with the times of words.

    Text goes to the server token by token, which speaks it sentence by sentence. An interruption stops the server within
    a frame, also when the language model had finished, and the connection stays. Audio has 24 kHz: transports resample.
    """

    Settings: ClassVar[type[SwarTTSSettings]] = SwarTTSSettings
    _settings: SwarTTSSettings

    def __init__(
        self, *, api_key: str | None = None, base_url: str | None = None, settings: SwarTTSSettings | None = None,
        text_aggregation_mode: TextAggregationMode = TextAggregationMode.TOKEN, **kwargs: Any,
    ) -> None:
        """Initialize the service.

        Args:
            api_key: A key of the server; SWAR_KEY where None.
            base_url: The address of the server, such as ``https://tts.example.com``; SWAR_SERVER where None.
            settings: Settings that can be changed while the pipeline runs.
            text_aggregation_mode: How text is gathered before it is sent. The server finds sentences better than Pipecat.
            **kwargs: Additional arguments passed to WebsocketTTSService.
        """
        super().__init__(
            text_aggregation_mode=text_aggregation_mode, push_text_frames=False, push_start_frame=True, sample_rate=wire.SAMPLE_RATE,
            settings=_complete(settings), **kwargs,
        )
        self._server, self._key = wire.address(base_url), wire.key_of(api_key)
        self._receive_task: asyncio.Task[None] | None = None
        self._fed: dict[str, Written] = {}  # the utterances that the server knows of, by context
        self._heard = ""  # whose audio comes

    def can_generate_metrics(self) -> bool:
        """Check if this service can generate metrics.

        Returns:
            True.
        """
        return True

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override] # as in Pipecat itself
        """Set up the service and connect.

        Args:
            setup: Configuration object containing setup parameters.
        """
        await super().setup(setup)
        await self._connect()

    async def _connect(self) -> None:
        await super()._connect()
        await self._connect_websocket()
        if self._websocket and self._receive_task is None:
            self._receive_task = self.create_task(self._receive_task_handler(self._report_error))

    async def _connect_now(self) -> None:
        """Connects for the text at hand, without waiting for the next attempt of the receive loop."""
        if self._receive_task is not None:
            await self.cancel_task(self._receive_task)
            self._receive_task = None
        await self._connect()

    async def _disconnect(self) -> None:
        await super()._disconnect()
        if self._receive_task is not None:
            await self.cancel_task(self._receive_task)
            self._receive_task = None
        await self._disconnect_websocket()

    async def _connect_websocket(self) -> None:
        if self._websocket and self._websocket.state is State.OPEN:
            return
        self._fed.clear()
        try:
            self._websocket = await self._websocket_connect(
                wire.socket_url(self._server), additional_headers=wire.headers_of(self._key), user_agent_header=None, compression=None,
                max_size=None,
            )
            await self._call_event_handler("on_connected")
        except Exception as e:
            self._websocket = None
            await self.push_error(error_msg=f"no connection to {self._server}: {e}", exception=e)
            await self._call_event_handler("on_connection_error", str(e))

    async def _disconnect_websocket(self) -> None:
        await self.stop_all_metrics()
        websocket, self._websocket = self._websocket, None
        if websocket:
            await websocket.close()
            await self._call_event_handler("on_disconnected")

    async def _send(self, context_id: str, kind: str, **fields: Any) -> None:
        if self._websocket:
            message = {"type": kind, "request_id": context_id} | fields
            await self._websocket.send(wire.body_of(message).decode())

    @traced_tts
    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Send text to the server. Its audio comes in the receive loop.

        Args:
            text: The text to speak.
            context_id: The context, which is the id of the utterance on the server.

        Yields:
            None, or an ErrorFrame where the text cannot be sent.
        """
        try:
            if not self._websocket or self._websocket.state is not State.OPEN:
                await self._connect_now()
            if not self._websocket:
                raise ConnectionError("there is no connection")
            first: dict[str, Any] = {}
            if context_id not in self._fed:
                self._fed[context_id] = Written()
                first = {"timestamps": "words"} | _fields(self._settings)
            self._fed[context_id].append(text)
            await self._send(context_id, "append", text=text, **first)
            await self.start_tts_usage_metrics(text)
            yield None
        except Exception as e:
            self._fed.pop(context_id, None)
            yield ErrorFrame(error=f"{self}: the text was not sent: {e}", exception=e)
            yield TTSStoppedFrame(context_id=context_id)

    async def flush_audio(self, context_id: str | None = None) -> None:
        """Say that no more text comes for a context. Its end follows the rest of its audio.

        Args:
            context_id: The context; the active one where None.
        """
        context_id = context_id or self.get_active_audio_context_id()
        if context_id in self._fed:
            await self._send(context_id, "finish")

    async def on_audio_context_interrupted(self, context_id: str) -> None:
        """Stop the server at once: what nobody hears is not spoken, nor billed.

        Args:
            context_id: The context that was interrupted.
        """
        await self.stop_all_metrics()
        await self._clear(context_id)
        await super().on_audio_context_interrupted(context_id)

    async def _handle_interruption(self, frame: InterruptionFrame, direction: FrameDirection) -> None:
        await super()._handle_interruption(frame, direction)
        for context_id in list(self._fed):  # contexts that were quiet for seconds, which the base class has forgotten
            if not self.audio_context_available(context_id):
                await self._clear(context_id)

    async def _clear(self, context_id: str) -> None:
        if self._fed.pop(context_id, None) is not None:
            await self._send(context_id, "clear")

    async def _update_settings(self, delta: TTSSettings) -> dict[str, Any]:  # type: ignore[override] # as in Pipecat itself
        """Apply a settings delta. The rest of a turn that is being spoken becomes a context of its own.

        Args:
            delta: A TTS settings delta.

        Returns:
            The names of the changed fields, with their previous values.
        """
        changed: dict[str, Any] = await super()._update_settings(delta)
        if changed.keys() & {"voice", "seed", "lexicon"} and self._turn_context_id in self._fed:
            await self._push_sequencer_frames(
                await self._aggregated_frame_sequencer.finalize(self._turn_context_id), self._turn_context_id,
            )
            await self.flush_audio(self._turn_context_id)
            self._turn_context_id = None
            self._turn_context_id = self.create_context_id()
        return changed

    async def _receive_messages(self) -> None:
        websocket = self._websocket
        if websocket is None:
            raise ConnectionError("there is no connection")
        async for message in websocket:
            if isinstance(message, bytes):
                await self._audio(self._heard, message)
            else:
                await self._event(json.loads(message))

    async def _audio(self, context_id: str, pcm: bytes) -> None:
        if context_id in self._fed:
            await self.append_to_audio_context(
                context_id, TTSAudioRawFrame(audio=pcm, sample_rate=wire.SAMPLE_RATE, num_channels=1, context_id=context_id),
            )

    async def _event(self, message: dict[str, Any]) -> None:
        event = wire.event_of(message)
        context_id = str(message.get("request_id", ""))
        if isinstance(event, Start):
            self._heard = context_id
        written = self._fed.get(context_id)
        if written is None:  # it was cleared
            if isinstance(event, SwarError) and event.status == 401:
                await self.push_error(error_msg=str(event), exception=event)
            return
        if isinstance(event, Words):
            await self._timed(context_id, written.words(event.words))
        elif isinstance(event, End):
            if event.frames == 0:  # Pipecat takes contexts without audio for a failure of the service
                await self._audio(context_id, _SILENCE)
            await self._timed(context_id, written.rest())
            await self._end(context_id)
        elif isinstance(event, SwarError):
            await self.push_error(error_msg=str(event), exception=event)
            await self._end(context_id)
        elif isinstance(event, Cancelled):
            await self._end(context_id)

    async def _timed(self, context_id: str, words: list[Word]) -> None:
        await self.add_word_timestamps([(w.word, w.start_s) for w in words], context_id)

    async def _end(self, context_id: str) -> None:
        del self._fed[context_id]
        if self.audio_context_available(context_id):
            await self.append_to_audio_context(context_id, TTSStoppedFrame(context_id=context_id))
            await self.remove_audio_context(context_id)


class SwarHttpTTSService(TTSService):
    """Speech over HTTP, a request for each sentence. For conversations SwarTTSService is better: it knows when words are heard."""

    Settings: ClassVar[type[SwarTTSSettings]] = SwarTTSSettings
    _settings: SwarTTSSettings

    def __init__(
        self, *, api_key: str | None = None, base_url: str | None = None, settings: SwarTTSSettings | None = None, **kwargs: Any,
    ) -> None:
        """Initialize the service.

        Args:
            api_key: A key of the server; SWAR_KEY where None.
            base_url: The address of the server; SWAR_SERVER where None.
            settings: Settings that can be changed while the pipeline runs.
            **kwargs: Additional arguments passed to TTSService.
        """
        super().__init__(
            push_start_frame=True, push_stop_frames=True, sample_rate=wire.SAMPLE_RATE, settings=_complete(settings), **kwargs,
        )
        self._client = AsyncSwar(base_url, api_key)

    def can_generate_metrics(self) -> bool:
        """Check if this service can generate metrics.

        Returns:
            True.
        """
        return True

    async def cleanup(self) -> None:
        """Close the connections."""
        await super().cleanup()
        await self._client.close()

    @traced_tts
    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Speak a text.

        Args:
            text: The text to speak.
            context_id: The context that the audio belongs to.

        Yields:
            Audio as it is spoken, or an ErrorFrame.
        """
        try:
            take = await self._client.speak(text, format="pcm16", **_fields(self._settings))
            await self.start_tts_usage_metrics(text)
            async for frame in self._stream_audio_frames_from_iterator(take.iter_bytes(), context_id=context_id):
                yield frame
        except SwarError as e:
            if e.code == "nothing_to_say":  # Pipecat takes contexts without audio for a failure of the service
                yield TTSAudioRawFrame(_SILENCE, wire.SAMPLE_RATE, 1, context_id=context_id)
            else:
                yield ErrorFrame(error=str(e), exception=e)
