#!/usr/bin/env bash
# Runs a command inside the cluster's network, as its admin: the API server, services and pods can be reached from there
# alone, and nothing else can. Compile a test first (go test -c): no module can be fetched in there.
#
#   hack/cluster/in.sh kubectl get nodes
#   hack/cluster/in.sh -n 2 curl http://198.19.1.5:8080/    from node 2
#   hack/cluster/in.sh -n 2 -a ctr -n k8s.io images ls      in its mounts and process ids as well
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"

node=1 namespaces=(--net --uts)
while getopts 'n:a' option; do
	case $option in
	n) node=$OPTARG ;;
	a) namespaces+=(--mount --pid) ;;
	*) fail 'usage: in.sh [-n NODE] [-a] COMMAND…' ;;
	esac
done
shift $((OPTIND - 1))
(($#)) || fail 'usage: in.sh [-n NODE] [-a] COMMAND…'
running "$node" || fail "node $node does not run; start it with hack/cluster/up.sh"

tools=$(cd "$here/../.." && pwd)/.cache/bin # helm, kustomize
export PATH=$bin:$tools:$PATH KUBECONFIG=$pki/admin.kubeconfig
# nsenter rather than ip netns exec, which mounts another /sys and so hides the cgroups
exec nsenter --target "$(cat "$state/node-$node/pid")" "${namespaces[@]}" -- "$@"
