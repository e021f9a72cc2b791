#!/usr/bin/env bash
# Puts images into every node: hack/cluster/load-image.sh ARCHIVE… reads OCI archives (docker save's form too), and
# prints each image by its digest, as a pod may refer to it: ghcr.io/swar-tts/swar/worker@sha256:….
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"
(($#)) || fail 'usage: load-image.sh ARCHIVE…'

# load imports one archive into node INDEX and names what it holds by digest too: the container runtime finds an image
# by the name that a pod gives, and an archive names it by tag alone.
load() { # INDEX ARCHIVE
	"$here/in.sh" -n "$1" -a bash -euc '
		images() { ctr -n k8s.io images "$@"; }
		images import - >/dev/null
		known=$(images ls | awk "NR > 1 {print \$1, \$3}")
		while read -r name digest; do
			case $name in *@* | sha256:*) continue ;; esac
			byDigest=${name%:*}@$digest
			case $known in *"$byDigest "*) ;; *) images tag "$name" "$byDigest" ;; esac
		done <<<"$known"' <"$2" >/dev/null
}

for archive; do
	[[ -r $archive ]] || fail "$archive cannot be read"
	pids=()
	for i in $(nodes); do
		load "$i" "$archive" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || fail "$archive was not loaded; is it an OCI archive for this machine?"; done
done
"$here/in.sh" -a ctr -n k8s.io images ls -q | grep '@sha256:' || true
