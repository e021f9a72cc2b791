#!/usr/bin/env bash
# Builds portal/web/dist from portal/web/src, with what npm brings at the versions of the lockfile. Without npm what was built
# stays, and that is said. -watch goes on building; -check only looks at types and layout, -format lays the sources out,
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
layout=(portal/web/node_modules/.bin/prettier --log-level warn --print-width 120 'portal/web/src/**/*.{ts,tsx,css}')
if [[ ${1:-} == -format ]]; then
	exec "${layout[@]}" --write
fi
if [[ ${1:-} == -check ]]; then
	"${layout[@]}" --check || { echo 'hack/web.sh -format lays them out' >&2; exit 1; }
	exec portal/web/node_modules/.bin/tsc -p portal/web
fi
go run ./hack/web "$@" portal/web
