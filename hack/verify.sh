#!/usr/bin/env bash
# Fails when a file is not formatted, the module files are not tidy, or generated files are not what their sources give.
set -euo pipefail

unformatted=$(gofmt -l $(git ls-files '*.go'))
[[ -z $unformatted ]] || { printf 'not formatted (run gofmt -w):\n%s\n' "$unformatted" >&2; exit 1; }
go vet ./...
go vet -tags e2e ./...
go mod verify >/dev/null
go mod tidy -diff || { echo "go.mod or go.sum is not tidy (run go mod tidy)" >&2; exit 1; }

before=$(git status --porcelain; git diff | sha256sum)
go generate ./...
after=$(git status --porcelain; git diff | sha256sum)
[[ $before == "$after" ]] || { echo "generated files are not up to date (run make generate and commit)" >&2; git status --short >&2; exit 1; }
echo "verified"
