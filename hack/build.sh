#!/usr/bin/env bash
# Builds one program: hack/build.sh OUT FLAG… PACKAGE. A build from empty caches takes minutes, so it says how far it is. Where the home
# cannot be written, Go's caches lie in .cache.
set -euo pipefail

out=$1
shift
package=${!#}

# usable DIR: Go may keep a cache there.
usable() { [[ $1 == /* ]] && mkdir -p "$1" 2>/dev/null && [[ -w $1 ]]; }
usable "$(go env GOCACHE 2>/dev/null)" || export GOCACHE=$PWD/.cache/go-build
usable "$(go env GOMODCACHE 2>/dev/null)" || export GOMODCACHE=$PWD/.cache/go-mod

# A line of Go's about a module that could not be downloaded: FILE:LINE:COLUMN: MODULE: Get "URL": WHY
undelivered='^[^ ]+\.go:[0-9]+:[0-9]+: ([^ ]+): (Get "[^"]*"|reading [^ ]+): (.*)$'
total='' count=0 next=$((SECONDS + 5)) missing=0 module='' why='' full=''

# progress says how far it is, every five seconds: also while one package takes long, or the program is linked.
progress() {
	((SECONDS >= next)) || return 0
	total=${total:-$(go list -deps "$package" 2>/dev/null | wc -l)}
	((count == 0)) || echo "$out: compiled $count packages, $total at most (${SECONDS} s)" >&2
	next=$((SECONDS + 5))
}

follow() {
	while true; do
		if IFS= read -r -t 5 line; then
			if [[ $line =~ $undelivered ]]; then
				missing=$((missing + 1)) module=${BASH_REMATCH[1]} why=${BASH_REMATCH[3]}
			elif [[ $line == *[[:space:]]* ]]; then # a download, or what is wrong
				[[ $line != *'no space left on device'* ]] || full=yes
				echo "$line" >&2
			else
				count=$((count + 1))
			fi
		elif (($? <= 128)); then # not the time, but the end
			break
		fi
		progress
	done
	((missing == 0)) || echo "$out: Go modules could not be downloaded, such as $module: $why; check the network, or the proxy (GOPROXY is $(go env GOPROXY)), and run this again" >&2
	[[ -z $full ]] || echo "$out: the disk is full: a build needs 2 GB in $(go env GOCACHE) and $(go env GOMODCACHE), and room in ${TMPDIR:-/tmp}; free some, or name other folders with GOCACHE, GOMODCACHE and TMPDIR" >&2
}

go build -v -o "$out" "$@" 2>&1 | follow
