#!/usr/bin/env bash
# Builds portal/web/dist from portal/web/src, with what npm brings at the versions of the lockfile. Without npm what was built
# stays, and that is said. -watch goes on building; -check only looks at types,
# -install only brings what npm has.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v npm >/dev/null; then
	echo '*** the web pages are NOT BUILT: npm is missing; the committed ones stay ***' >&2
	exit 0
fi
if [[ ! portal/web/node_modules/.package-lock.json -nt portal/web/package-lock.json ]]; then
	(cd portal/web && npm ci --ignore-scripts --no-audit --no-fund --silent && touch node_modules/.package-lock.json)
fi
if [[ ${1:-} == -install ]]; then
	exit 0
fi
if [[ ${1:-} == -check ]]; then
	exec portal/web/node_modules/.bin/tsc -p portal/web
fi
go run ./hack/web "$@" portal/web
