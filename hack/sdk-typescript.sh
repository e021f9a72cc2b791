#!/usr/bin/env bash
# Tries the TypeScript client in sdk/typescript against a real server, on Node and in Chromium: types, tests, and what npm
# packs. npm installs its tools at the versions of the lockfile. Without them esbuild, which Go has, compiles.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -x bin/swar ]] || { echo 'sdk: build bin/swar first: make sdk does both' >&2; exit 1; }
export SWAR_TEST_BINARY=$PWD/bin/swar
if ! command -v node >/dev/null; then
	if ! hack/fetch/bin/npm --version >/dev/null; then
		echo '*** the TypeScript client is NOT TESTED: node is missing, see above ***' >&2
		exit 0
	fi
	PATH=$PWD/.cache/node/bin:$PWD/hack/fetch/bin:$PATH
fi
major=$(node -p 'process.versions.node.split(".")[0]')
if ((major < 20)); then
	echo "*** the TypeScript client is NOT TESTED: it needs Node 20, and this is $(node --version) ***" >&2
	exit 0
fi
websocket=()
((major >= 22)) || websocket=(--experimental-websocket) # the one that Node 22 has

# install brings the tools of a package, once for each lockfile.
install() {
	[[ node_modules/.package-lock.json -nt package-lock.json ]] && return
	command -v npm >/dev/null && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --silent &&
		touch node_modules/.package-lock.json
}

cd sdk/typescript
rm -rf dist
if install; then
	node_modules/.bin/tsc
	node_modules/.bin/tsc -p test
	export SWAR_TEST_PACK=1
else
	echo '*** the TypeScript client: types and package are NOT CHECKED, because npm does not bring the compiler ***' >&2
	go run github.com/evanw/esbuild/cmd/esbuild src/*.ts --outdir=dist --format=esm --target=es2022 --log-level=warning
fi
node "${websocket[@]}" --import ./test/bounded.mjs --test --test-timeout=120000 --test-reporter=spec test/*.test.mjs
