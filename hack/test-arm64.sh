#!/usr/bin/env bash
# Tests the code for arm64 on an emulated processor: the kernels of products and of convolutions, each on a processor that is fastest with it,
# and the path of speech with ONNX Runtime's library for arm64. Says what could not be tested, and fails for it in CI.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -m) == aarch64 ]]; then
	echo "test-arm64: this machine is one; make test runs all of this"
	exit
fi
hack/install-deps.sh arm64
export GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
without=(-tags noopus,nomp3) # these tests encode nothing, and a cross compiler has neither libopus nor libmp3lame to link with
every="i8mm dotprod plain"
began=$SECONDS

says() { echo "== $1 on $2 (${3// /, }), after $((SECONDS - began)) s"; }

# passes WHAT CPU KERNELS ARG...: runs go test on such a processor, and fails where no test ran. The race detector does not run in qemu.
passes() {
	local cpu=$2 kernels=$3 out
	says "$1" "$cpu" "$kernels"
	shift 3
	out=$(SWAR_EXPECT_KERNELS=$kernels go test "${without[@]}" -count=1 -vet=off -timeout 8m -exec "'$PWD/hack/qemu-arm64.sh' $cpu" "$@" 2>&1) || { echo "$out"; exit 1; }
	echo "$out"
	[[ $out != *"no test"* ]] || { echo "test-arm64: there are no such tests" >&2; exit 1; }
}

kernels=(./runtime/internal/{rowproduct,convolve,vector})
passes kernels max "$every" "${kernels[@]}"
passes kernels neoverse-n1 "dotprod plain" "${kernels[@]}"
passes kernels cortex-a72 plain "${kernels[@]}"
says "kernels with sanitizers" max "$every"
SWAR_EXPECT_KERNELS=$every hack/sanitize-kernels.sh "$PWD/hack/qemu-arm64.sh" max

if ! SWAR_ONNXRUNTIME=$(hack/onnxruntime.sh arm64); then
	echo "*** speech on arm64 is NOT TESTED: there is no ONNX Runtime for it, see above ***" >&2
	[[ ${CI:-} != true || " ${SWAR_TEST_WITHOUT:-} " == *" onnxruntime "* ]] || exit 1
	exit 0
fi
export SWAR_ONNXRUNTIME
products='^(TestExpectedKernels|TestIntegersAreExactWithEveryKernel|TestRowProductGivesTheBitsOfOnnxRuntime|TestProductsOfOthersAreExact|TestTheCheckNotices)$'
for of in "max|$every" "neoverse-n1|dotprod plain" "cortex-a72|plain"; do
	passes "products in ONNX Runtime" "${of%|*}" "${of#*|}" -run "$products" ./runtime/internal/ort
done
speech=(TestEngineSpeaksAModelAsTheReferenceDoes TestATinyBundleSpeaksAlikeEverywhere TestEveryVectorAgrees)
packages=()
for test in "${speech[@]}"; do
	file=$(grep -rl --include='*_test.go' "^func $test(" runtime/onnx) || { echo "test-arm64: there is no $test; name what took its place" >&2; exit 1; }
	packages+=("./$(dirname "$file")")
done
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
passes "${speech[*]}" max "$every" -run "^($(IFS='|'; echo "${speech[*]}"))\$" "${packages[@]}"
echo "test-arm64: passed in $((SECONDS - began)) s"
