#!/bin/sh
# Brings the normalisers of others that PyPI has into .cache/reading, at the versions that docs/reading-benchmark.md has measured. What
# cannot be installed is named and left out.
set -eu
cd "$(dirname "$0")/../../.."
mkdir -p .cache
if ! [ -x .cache/reading/bin/pip ] && ! python3 -m venv .cache/reading; then
	echo 'SKIPPED: all peers, as python3 with venv is missing: apt-get install python3-venv' >&2
	exit 0
fi
for package in nemo_text_processing==1.2.0 indic-numtowords==1.1.0 num2words==0.5.14 wetext==0.1.8 verbalis==0.1.0a1 indic-tts-preprocess==0.1.1; do
	.cache/reading/bin/pip install --quiet --disable-pip-version-check "$package" || echo "SKIPPED: $package cannot be installed here" >&2
done
