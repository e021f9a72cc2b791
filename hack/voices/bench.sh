#!/bin/sh
# Measures voices, see voices.py; skips, and says so, where the judges cannot be installed.
set -eu
cd "$(dirname "$0")/../.."
status=0
hack/voices/install.sh || status=$?
[ "$status" = 3 ] && exit 0
[ "$status" = 0 ] || exit "$status"
.cache/voices/venv/bin/python -m unittest discover -q -s hack/voices
export ORT_DISABLE_TELEMETRY=1 # what is measured here is told to nobody
# One thread, so that processors do not change what is measured.
OMP_NUM_THREADS=1 exec .cache/voices/venv/bin/python hack/voices/voices.py "$@"
