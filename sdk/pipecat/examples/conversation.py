#
# Copyright (c) 2026, The Swar Authors
#
# SPDX-License-Identifier: BSD-2-Clause
#

"""A conversation in Hinglish: type, and hear the answer. Interrupt it by typing again.

    pip install pipecat-swar "pipecat-ai[openai,local]"
    SWAR_SERVER=http://127.0.0.1:8080 SWAR_KEY=... OPENAI_API_KEY=... python conversation.py
"""

import asyncio
import sys

from pipecat.frames.frames import EndFrame, InterruptionFrame, LLMMessagesAppendFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.local.audio import LocalAudioTransport, LocalAudioTransportParams
from pipecat.workers.runner import WorkerRunner

from pipecat_swar import SwarTTSService

PROMPT = "You are a friendly agent of a shop. Answer in Hinglish, in two short sentences, without markdown."


async def main() -> None:
    transport = LocalAudioTransport(LocalAudioTransportParams(audio_out_enabled=True))
    context = LLMContext([{"role": "system", "content": PROMPT}])
    aggregators = LLMContextAggregatorPair(context)
    tts = SwarTTSService(settings=SwarTTSService.Settings(voice="anjura"))
    pipeline = Pipeline([
        aggregators.user(), OpenAILLMService(), tts, transport.output(), aggregators.assistant(),
    ])
    worker = PipelineWorker(pipeline)

    async def type_messages() -> None:
        while line := await asyncio.to_thread(sys.stdin.readline):
            await worker.queue_frame(InterruptionFrame())
            await worker.queue_frame(LLMMessagesAppendFrame([{"role": "user", "content": line}], run_llm=True))
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner()
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), type_messages())


if __name__ == "__main__":
    asyncio.run(main())
