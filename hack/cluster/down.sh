#!/usr/bin/env bash
# Ends the cluster that up.sh has started and removes what it has written. Each node ends with its first process: the
# kernel then ends every process of its own ids, and its mounts and network go with them. Safe to run again, and after a
# crash. With -k the state, and the logs in it, are kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"

# gone waits until process PID has ended, at most five seconds.
gone() { for _ in $(seq 100); do [[ -d /proc/$1 ]] || return 0; sleep 0.05; done; return 1; }

end() { # INDEX
	local pid
	running "$1" || return 0
	pid=$(cat "$state/node-$1/pid")
	kill -TERM "$pid" 2>/dev/null || true
	gone "$pid" && return 0
	kill -KILL "$pid" 2>/dev/null || true
	gone "$pid" || fail "process $pid of node $1 does not end"
}

if [[ -d $state ]]; then lock; fi
for i in $(seq 9 -1 1); do # also what is left of nodes whose state is gone
	end "$i"
	remove_cgroup "$i"
done
[[ ${1:-} == -k ]] || rm -rf --one-file-system "$state"
