#!/usr/bin/env bash
# Compares the engine with Kyutai's own package, pocket_tts, at the newest version that PyPI has. It is installed into
# .cache/pocket-tts with what it needs, PyTorch among it: 2 GB to fetch, 6 GB on the disk, a few minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.cache/pocket-tts
if [[ ! -x $venv/bin/python ]]; then
	rm -rf "$venv.new"
	python3 -m venv "$venv.new" || { echo 'python3 with venv is missing: apt-get install python3-venv' >&2; exit 1; }
	echo 'test-upstream: installing pocket_tts and PyTorch, once'
	"$venv.new/bin/python" -m pip install --progress-bar raw -q pocket-tts
	rm -rf "$venv"
	mv "$venv.new" "$venv"
fi
SWAR_TEST_POCKET_TTS=$PWD/$venv/bin/python go test -count=1 -timeout 30m -run TestUpstreamsOwnPackageAgrees -v ./runtime/onnx/parity "$@"
