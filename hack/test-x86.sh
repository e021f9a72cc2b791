#!/usr/bin/env bash
# Tests the neural engine as on older x86 processors, by hiding newer instructions (hack/cpumask.sh), and looks at the machine code of kernels
# whose processor may not be at hand. Says what could not be tested.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -sm) != "Linux x86_64" ]]; then
	echo "*** the kernels for x86 are NOT TESTED: this is $(uname -sm) ***" >&2
	exit
fi
began=$SECONDS
object=$(mktemp)
trap 'rm -f "$object"' EXIT
trap 'exit 130' INT TERM

# encoded_for_avx PACKAGE/KERNEL INSTRUCTION: fails unless the kernel has the instruction and nothing in the encoding of AVX-512, which begins
# with 62.
encoded_for_avx() {
	"${CC:-gcc}" -O3 -std=c11 -c -o "$object" "runtime/internal/$1_amd64.c"
	objdump -d --insn-width=16 "$object" | awk -F '\t' -v kernel="$1" -v instruction="$2" '
		$2 ~ /^62 / { bad = $0 }
		$2 ~ /^c[45] / && $3 ~ instruction { found++ }
		END {
			if (bad != "") print "test-x86: the kernel " kernel " has an instruction of AVX-512: " bad
			if (!found) print "test-x86: the kernel " kernel " has no " instruction " in the encoding of AVX"
			exit bad != "" || !found
		}' >&2
	echo "ok  	$1 has $2 in the encoding of AVX, and nothing of AVX-512"
}
encoded_for_avx rowproduct/avxvnni vpdpbusd
encoded_for_avx rowproduct/avx2 vpmaddwd
encoded_for_avx convolve/avxvnni vpdpbusd
encoded_for_avx convolve/avxvnni vpdpwssd
encoded_for_avx convolve/avx2 vpmaddubsw
encoded_for_avx convolve/avx2 vpmaddwd
encoded_for_avx vector/avx2 vmulps

# masked LEVEL FLAG KERNELS: tests on a processor that has no more than that. The suite of the engine runs for bundles alone: what it promises for
# other layouts does not depend on the processor. The external linker links the C library to every test: cpumask.sh refuses static programs.
masked() {
	local level=$1 flag=$2 kernels=$3 status=0
	grep -qw "$flag" /proc/cpuinfo || { echo "*** $level is NOT TESTED: this processor lacks it ***" >&2; return; }
	hack/cpumask.sh "$level" true || status=$?
	((status == 0)) || { echo "*** $level is NOT TESTED: this machine cannot hide what came after it, see above ***" >&2; return; }
	echo "== $level (${kernels// /, }), after $((SECONDS - began)) s"
	SWAR_EXPECT_KERNELS=$kernels go test -count=1 -vet=off -ldflags=-linkmode=external -exec "'$PWD/hack/cpumask.sh' $level" \
		-skip '^TestEnginesOfPublicLayoutsKeepTheirPromises$' ./runtime/onnx/... ./runtime/internal/{rowproduct,convolve,vector,ort} ./runtime/kokoro/internal/vocoder
}
masked avx2 avx2 "avx2 plain"
masked avx512 avx512bw "avx512 avx2 plain"
grep -qw avx_vnni /proc/cpuinfo || echo "*** avxvnni did NOT RUN: this processor lacks AVX-VNNI; avx512vnni_256 is its loop in another encoding ***" >&2
echo "test-x86: passed in $((SECONDS - began)) s"
