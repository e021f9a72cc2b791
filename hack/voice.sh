#!/usr/bin/env bash
# Prints the model that a fleet on this machine speaks with, kokoro, which is downloaded at the first start. Where that
# fails, or SWAR_VOICE is espeak, it prints nothing, and says on standard error that espeak-ng speaks.
set -euo pipefail
cd "$(dirname "$0")/.."

espeak() { echo "speaking with espeak-ng: $*" >&2; exit 0; }

[[ ${SWAR_VOICE:-} != espeak ]] || espeak "SWAR_VOICE is espeak"
PATH=$PATH:$PWD/hack/fetch/bin # an npm, where there is none, for a voice that the hub does not give
hack/onnxruntime.sh >/dev/null || espeak "the library that runs the model kokoro is missing"
bin/swar model show kokoro --json | grep -q '"folder"' || bin/swar model pull kokoro >&2 ||
	espeak "the model kokoro is not available"
echo kokoro
