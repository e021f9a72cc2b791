#!/usr/bin/env bash
# Builds one program: hack/build.sh OUT FLAG… PACKAGE. A build from empty caches takes minutes, so it says how far it is.
set -euo pipefail

out=$1
shift
package=${!#}
total='' count=0 next=$((SECONDS + 5))
go build -v -o "$out" "$@" 2>&1 | while IFS= read -r line; do
	if [[ $line == *[[:space:]]* ]]; then # a download, or what is wrong
		echo "$line" >&2
		continue
	fi
	count=$((count + 1))
	if ((SECONDS >= next)); then
		total=${total:-$(go list -deps "$package" | wc -l)}
		echo "$out: compiled $count packages, $total at most (${SECONDS} s)" >&2
		next=$((SECONDS + 5))
	fi
done
