#!/usr/bin/env bash
# Runs the kernels of products and of convolutions, and functions over rows, with the address and the undefined behaviour sanitizer, on values
# that end where their memory ends. They are those of CC (gcc), and run by the command that is given, if any: CC=aarch64-linux-gnu-gcc hack/sanitize-kernels.sh hack/qemu-arm64.sh max
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-gcc}
case $("$cc" -dumpmachine) in
x86_64-*) suffix=amd64 ;;
aarch64-*) suffix=arm64 ;;
*) suffix=none ;;
esac
# The library of sanitizers that older compilers bring does not stand memory that lies anywhere.
if [[ $# -eq 0 ]] && setarch -R true 2>/dev/null; then
	set -- setarch -R
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
shopt -s nullglob
for package in rowproduct convolve vector; do
	from=$root/runtime/internal/$package
	sources=("$from"/testdata/bounds.c "$from"/plain.c "$from"/*_"$suffix".c)
	for list in kernels functions; do # what names those that were built
		[[ ! -e $from/$list.c ]] || sources+=("$from/$list.c")
	done
	"$cc" -std=c11 -O0 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -o "$work/$package" "${sources[@]}" -lm
	ASAN_OPTIONS=detect_leaks=0 "$@" "$work/$package" # leaks cannot be found everywhere and are not what this is about
done
