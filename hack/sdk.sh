#!/usr/bin/env bash
# Tries the Python client in sdk/python against a real server: types, tests, and what its wheel contains. Its tools are
# installed into .cache, pinned.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=(httpx==0.28.1 websockets==17.4 mypy==2.4.1 pytest==9.2.0 hatchling==1.33.0)
venv=$PWD/.cache/sdk-python-$(printf '%s\n' "${tools[@]}" | sha256sum | cut -c1-12)
if [[ ! -x $venv/bin/pytest ]]; then
	if ! python3 -m venv "$venv" || ! "$venv/bin/python" -m pip install -q "${tools[@]}"; then
		rm -rf "$venv"
		echo '*** the Python client is NOT TESTED: python3-venv or its tools are missing, see above ***' >&2
		exit 0
	fi
fi
[[ -x bin/swar ]] || { echo 'sdk: build bin/swar first: make sdk does both' >&2; exit 1; }
export SWAR_TEST_BINARY=$PWD/bin/swar PYTHONPATH=$PWD/sdk/python/src:$PWD/sdk/python/tests PATH=$venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
cd sdk/python
python -m mypy --cache-dir "$venv/mypy"
python -m pytest -q -W error::DeprecationWarning -p no:cacheprovider -p bounded
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python -m pip wheel -q --no-deps --no-build-isolation -w "$out" .
python - "$out" <<'PY'
import pathlib, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob("*.whl")
names = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("swar/")}
want = {"swar/" + p.name for p in pathlib.Path("src/swar").iterdir() if p.is_file()}
if names != want:
    sys.exit(f"the wheel holds {sorted(names)}, want {sorted(want)}")
print(f"{wheel.name}: {wheel.stat().st_size / 1000:.1f} kB")
PY
