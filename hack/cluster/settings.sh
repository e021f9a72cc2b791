# shellcheck shell=bash disable=SC2034  # sourced: the scripts beside it use what is set here
#
# A cluster has a name, so that two may run on one machine: SWAR_CLUSTER=other hack/cluster/up.sh.
name=${SWAR_CLUSTER:-swar}
state=${TMPDIR:-/tmp}/$name-cluster # all that it writes; removed by down.sh. Short: paths of sockets end at 108 bytes
cgroup=$name-cluster                # node 1 has the cgroup swar-cluster-1 in every hierarchy
pki=$state/pki
bin=$state/bin # a link to what build.sh has made

# 198.18.0.0/15 is kept for benchmarks (RFC 2544). Here it exists only in the network namespaces of the nodes.
node_net=198.18.0 # node 1 is 198.18.0.1
pod_net=198.19    # its pods are in 198.19.1.0/24
pod_cidr=198.19.0.0/17
service_cidr=198.19.128.0/20
service_ip=198.19.128.1 # of the API server
dns_ip=198.19.128.10

# running says whether node INDEX runs: whether the process that the file names still is the first one of a node.
running() {
	local pid
	pid=$(cat "$state/node-$1/pid" 2>/dev/null) && [[ -n $pid ]] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -q "node.sh $1 $"
}

# lock makes two scripts that start or end nodes of one cluster wait for one another.
lock() {
	exec 9<"$state"
	flock -w 10 9 || fail "another up.sh or down.sh is at work on this cluster; wait for it, or end it"
}

# nodes prints the number of each node that has been made.
nodes() { find "$state" -maxdepth 1 -name 'node-*' 2>/dev/null | sed 's/.*-//' | sort -n; }

# remove_cgroup removes the cgroups of node INDEX, which stay busy for a moment after their last process.
remove_cgroup() {
	local folder
	for folder in /sys/fs/cgroup/"$cgroup-$1" /sys/fs/cgroup/*/"$cgroup-$1"; do
		[[ -d $folder ]] || continue
		for _ in $(seq 50); do
			find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null && break
			sleep 0.1
		done
		[[ ! -d $folder ]] || fail "the cgroup $folder is still in use"
	done
}

export CONTAINERD_SUPPRESS_DEPRECATION_WARNINGS=1 # of cgroups of version 1, at each command

fail() { echo "cluster: $*" >&2; exit 1; }
