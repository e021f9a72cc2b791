#!/usr/bin/env bash
# Stops one program of a node, as a fault would, or lets it run again: program.sh stop|start PROGRAM [NODE].
#
#   hack/cluster/program.sh stop kube-apiserver; sleep 60; hack/cluster/program.sh start kube-apiserver
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"

usage='usage: program.sh stop|start PROGRAM [NODE]'
(($# == 2 || $# == 3)) || fail "$usage"
program=$2 node=$state/node-${3:-1}
running "${3:-1}" || fail "node ${3:-1} does not run"
[[ -f $node/log/$program.log ]] || fail "$node runs no $program"
case $1 in
start) rm -f "$node/hold/$program" ;;
stop)
	touch "$node/hold/$program"
	if pid=$(cat "$node/pids/$program" 2>/dev/null); then
		"$here/in.sh" -n "${3:-1}" -a bash -c 'kill -KILL "$1" 2>/dev/null || true' - "$pid"
	fi
	;;
*) fail "$usage" ;;
esac
