#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time, one after another.
set -euo pipefail

time=${1:-10s}
found=0
while IFS=: read -r file target; do
	found=$((found + 1))
	echo "== ${file%/*} $target"
	go test -run '^$' -fuzz "^$target\$" -fuzzminimizetime 1x -fuzztime "$time" "./${file%/*}"
done < <(git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed 's/:func /:/')
((found)) || { echo "no fuzz target found" >&2; exit 1; }
echo "$found fuzz targets passed"
