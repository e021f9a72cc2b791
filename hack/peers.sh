#!/usr/bin/env bash
# Runs the tests of portal/signin beside programs of others: identity providers, which are npm packages, and a browser. Installs them into .cache/peers
# as the committed lock file says, once; that takes about two minutes and 250 MB. Skips, and says so, where there is no npm.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in node npm; do
	command -v "$tool" >/dev/null || {
		echo "SKIPPED: the tests with oidc-provider and the Firebase Auth emulator did not run, because $tool is missing (Debian: apt-get install npm)" >&2
		exit 0
	}
done

cache=$PWD/.cache/peers
if ! cmp -s hack/peers/package-lock.json "$cache/installed.json"; then
	echo "peers: installing the identity providers into .cache/peers, once" >&2
	rm -rf "$cache"
	mkdir -p "$cache"
	cp hack/peers/package.json hack/peers/package-lock.json "$cache/"
	npm ci --prefix "$cache" --ignore-scripts --no-audit --no-fund --loglevel error
	cp hack/peers/package-lock.json "$cache/installed.json" # last: what stands here is whole
fi
SWAR_PEERS=$cache exec go test -race -count=1 -timeout 10m -tags peers -run '^TestPeer' -v ./portal/signin "$@"
