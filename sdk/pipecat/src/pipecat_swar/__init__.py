#
# Copyright (c) 2026, The Swar Authors
#
# SPDX-License-Identifier: BSD-2-Clause
#

"""Hinglish speech from a Swar server for Pipecat."""

from .tts import SwarHttpTTSService, SwarTTSService, SwarTTSSettings

__version__ = "0.9.0"

__all__ = ["SwarHttpTTSService", "SwarTTSService", "SwarTTSSettings"]
