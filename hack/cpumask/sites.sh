#!/usr/bin/env bash
# Lists the addresses of the CPUID instructions of an ELF file, in hexadecimal, one a line, and "end": sites.sh FILE.
# It disassembles the file: the two bytes of CPUID are also found inside other instructions. Lists are cached.
set -euo pipefail

cache=$(cd "$(dirname "$0")/../.." && pwd)/.cache/cpumask
mkdir -p "$cache"
sum=$(sha256sum <"$1")
list=$cache/${sum%% *}
if [[ ! -s $list ]]; then
	made=$(mktemp "$list.XXXXXX")
	trap 'rm -f "$made"' EXIT
	LC_ALL=C objdump -d --no-show-raw-insn "$1" | awk '$2 == "cpuid" { sub(":", "", $1); print $1 } END { print "end" }' >"$made"
	mv "$made" "$list"
fi
cat "$list"
