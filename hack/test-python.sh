#!/usr/bin/env bash
# Tries our own readers against the Python libraries that others use: the hub's client, tokenizers, SentencePiece. They are
# installed into .cache/python, at the newest versions that PyPI has, because those are what people meet.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.cache/python
if [[ ! -x $venv/bin/python ]]; then
	python3 -m venv "$venv.new" || { echo 'python3 with venv is missing: apt-get install python3-venv' >&2; exit 1; }
	"$venv.new/bin/pip" install -q huggingface_hub tokenizers sentencepiece
	rm -rf "$venv"
	mv "$venv.new" "$venv"
fi
"$venv/bin/python" -c 'from importlib.metadata import version
for p in ("huggingface_hub", "tokenizers", "sentencepiece"): print(p, version(p))'
SWAR_TEST_PYTHON=$PWD/$venv/bin/python go test -count=1 -timeout 30m -run 'OwnClient|SentencePiece|Tokenizers' -v ./models/hub ./runtime/tokenize "$@" |
	grep -E '^(---|ok|FAIL|panic| +[a-z_]+_test.go)'
