#!/usr/bin/env bash
# Starts a cluster of its own beside that of make cluster, runs the tests inside its network, and removes it: run.sh
# [-test.run REGEXP …]. KEEP=1 leaves it running, for a look; SWAR_CLUSTER=swar-e2e hack/cluster/down.sh removes it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cluster=$here/../cluster
export SWAR_CLUSTER=swar-e2e
root=$(cd "$here/../.." && pwd)
[[ -f $root/dist/images/digests.json ]] || { echo 'there are no images: run make images' >&2; exit 1; }
scratch=$(mktemp -d)
trap '[[ -n ${KEEP:-} ]] || "$cluster/down.sh"; rm -rf "$scratch"' EXIT
(cd "$here" && go test -c -tags e2ecluster -o "$scratch/test" .) # in there no module can be fetched
"$cluster/down.sh"
"$cluster/up.sh" 2
# as somebody loads them who reads the page
load=$(grep -m 1 '^hack/cluster/load-image.sh ' "$root/docs/kubernetes.md") || { echo 'docs/kubernetes.md does not load images' >&2; exit 1; }
(cd "$root" && bash -euc "$load" >/dev/null)
cd "$here"
"$cluster/in.sh" "$scratch/test" -test.v -test.timeout 120m "$@"
