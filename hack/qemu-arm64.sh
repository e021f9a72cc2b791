#!/usr/bin/env bash
# Runs a Linux program for arm64 on another machine: hack/qemu-arm64.sh CPU PROGRAM [ARG ...]. CPU is max, which has every set of instructions
# that qemu knows, neoverse-n1, which has dot products of bytes, or cortex-a72, which has neither. hack/install-deps.sh arm64 installs what it needs.
# For tests: GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc go test -exec "$PWD/hack/qemu-arm64.sh max" ./runtime/onnx/...
set -euo pipefail

[[ $# -ge 2 ]] || { echo "usage: $0 max|neoverse-n1|cortex-a72 PROGRAM [ARG ...]" >&2; exit 2; }
cpu=$1
shift
case $cpu in # MIDR_EL1 of qemu's models: implementer and part
max) implementer=0x00 part=0x051 ;;
neoverse-n1) implementer=0x41 part=0xd0c ;;
cortex-a72) implementer=0x41 part=0xd08 ;;
*) echo "qemu-arm64: the processor $cpu is unknown; it can be max, neoverse-n1 or cortex-a72" >&2; exit 2 ;;
esac
command -v qemu-aarch64 >/dev/null || { echo "qemu-arm64: qemu-aarch64 is missing (Debian: apt-get install qemu-user)" >&2; exit 2; }

# The library of ONNX Runtime reads from /proc/cpuinfo which processor it runs on. Older versions of qemu show that of this machine, at which
# the library crashes; and a part that has more instructions than the processor lets it use them.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/../.cache"
root=$(cd "$here/../.cache" && pwd)/qemu-arm64/$cpu
mkdir -p "$root/proc"
[[ -e $root/lib ]] || ln -s /usr/aarch64-linux-gnu/lib "$root/lib" 2>/dev/null || [[ -e $root/lib ]] # two may come at once
made=$(mktemp "$root/proc/.cpuinfo.XXXXXX")
for ((i = 0; i < $(getconf _NPROCESSORS_CONF); i++)); do
	printf 'processor\t: %d\nCPU implementer\t: %s\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: %s\nCPU revision\t: 0\n\n' "$i" $implementer $part
done >"$made"
mv "$made" "$root/proc/cpuinfo"
exec qemu-aarch64 -L "$root" -cpu "$cpu" "$@"
