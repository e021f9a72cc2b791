#!/usr/bin/env bash
# Runs tests beside identity providers of others: oidc-provider and the Firebase Auth emulator, which are npm packages, and Keycloak.
#
#   hack/peers.sh                 the tests of portal/signin
#   hack/peers.sh COMMAND...      a command, which finds the providers in SWAR_PEERS
#
# Installs them into .cache/peers, once, at the versions of the committed lock file and of this script; that takes about two minutes, 250 MB, and
# 350 MB more for Keycloak. Skips, and says so, where there is no npm; without Java and Maven Keycloak alone is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

keycloak=26.4.5

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

if [[ $# -gt 0 && $(cat "$cache/keycloak/installed" 2>/dev/null) != "$keycloak" ]]; then
	if command -v java >/dev/null && command -v mvn >/dev/null; then
		echo "peers: installing Keycloak $keycloak into .cache/peers, once" >&2
		rm -rf "$cache/keycloak" "$cache/unpacked"
		if (cd "$cache" && mvn -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack \
			-Dartifact="org.keycloak:keycloak-quarkus-dist:$keycloak:zip" -DoutputDirectory="$cache/unpacked"); then
			mv "$cache/unpacked/keycloak-$keycloak" "$cache/keycloak"
			chmod +x "$cache/keycloak/bin/kc.sh"
			echo "$keycloak" >"$cache/keycloak/installed" # last: what stands here is whole
		else
			echo "peers: Keycloak cannot be had; its test will be SKIPPED" >&2
		fi
	else
		echo "peers: Java or Maven is missing (Debian: apt-get install maven): the test with Keycloak will be SKIPPED" >&2
	fi
fi

export SWAR_PEERS=$cache
if [[ $# -gt 0 ]]; then
	exec "$@"
fi
exec go test -race -count=1 -timeout 10m -tags peers -run '^TestPeer' -v ./portal/signin
