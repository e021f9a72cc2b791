#!/usr/bin/env bash
# Starts a Kubernetes cluster on this machine and waits until it is ready. Each of its NODES (2 unless given) has process
# ids, mounts and a network of its own, so that no packet, mount or setting leaves it: node 1 holds the control plane as
# well, and node N lies in zone a, b, …. It runs until hack/cluster/down.sh. A node that has been lost is brought back.
#
# Needs root on Linux, what build.sh makes, and of Debian's packages iproute2, iptables, nftables, openssl, procps and
# util-linux (hack/install-deps.sh cluster).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"
count=${1:-2}
[[ $count =~ ^[1-9]$ ]] || fail "a cluster has 1 to 9 nodes, not '$count'"
((EUID == 0)) || fail 'namespaces need root; run it with sudo'
for tool in ip nft iptables openssl pgrep unshare nsenter; do
	command -v "$tool" >/dev/null || fail "$tool is missing; run hack/install-deps.sh cluster"
done

# make_cgroups makes an own cgroup for the node's pods in every hierarchy, of version 1 or 2.
make_cgroups() {
	local hierarchy folder
	if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
		mkdir -p "/sys/fs/cgroup/$1"
		return
	fi
	for hierarchy in /sys/fs/cgroup/*/; do
		[[ ! -f $hierarchy/cgroup.controllers ]] || continue # version 2 beside version 1 has no controller of ours
		folder=$hierarchy$1
		mkdir -p "$folder"
		if [[ -f $folder/cpuset.cpus ]]; then # empty at first, when it takes no process
			cat "$hierarchy/cpuset.effective_cpus" >"$folder/cpuset.cpus"
			cat "$hierarchy/cpuset.effective_mems" >"$folder/cpuset.mems"
		fi
	done
}

configure() { # INDEX
	local i=$1 node=$state/node-$1
	mkdir -p "$node"/{log,hold,pids,kubelet,containerd,cni,pods}
	mkdir -p -m 700 "$node/etcd"
	remove_cgroup "$i" # of a node that was lost: the kubelet would ask for its containers for half a minute
	make_cgroups "$cgroup-$i"
	echo "nameserver $dns_ip" >"$node/resolv.conf"
	cat >"$node/cni/10-cluster.conflist" <<-CNI
		{"cniVersion": "1.0.0", "name": "cluster", "plugins": [
		 {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
		  "ipam": {"type": "host-local", "dataDir": "/run/cni-addresses",
		   "ranges": [[{"subnet": "$pod_net.$i.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
		 {"type": "portmap", "capabilities": {"portMappings": true}}]}
	CNI
	cat >"$node/containerd.toml" <<-TOML
		version = 3
		root = "$node/containerd"
		state = "/run/containerd"
		disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.tracing"]
		[grpc]
		address = "/run/containerd/containerd.sock"
		[plugins."io.containerd.cri.v1.images"]
		snapshotter = "overlayfs"
		[plugins."io.containerd.cri.v1.images".pinned_images]
		sandbox = "swar.test/pause:1"
		[plugins."io.containerd.cri.v1.runtime"]
		restrict_oom_score_adj = true # root may lack CAP_SYS_RESOURCE, without which a score cannot be lowered
		[plugins."io.containerd.cri.v1.runtime".cni]
		bin_dirs = ["$bin"]
		conf_dir = "$node/cni"
		[plugins."io.containerd.cri.v1.runtime".containerd]
		default_runtime_name = "runc"
		[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
		runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
		BinaryName = "$bin/runc"
		SystemdCgroup = false
	TOML
	cat >"$node/kubelet.yaml" <<-YAML
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
		cgroupDriver: cgroupfs
		cgroupRoot: /$cgroup-$i
		failCgroupV1: false
		oomScoreAdj: 0 # see containerd's restrict_oom_score_adj
		failSwapOn: false
		authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
		authorization: {mode: Webhook}
		tlsCertFile: $pki/node-$i-server.crt
		tlsPrivateKeyFile: $pki/node-$i-server.key
		clusterDomain: cluster.local
		clusterDNS: [$dns_ip]
		resolvConf: $node/resolv.conf
		podLogsDir: $node/pods
		# The disk is the machine's, whose fill is no reason to evict a pod or to remove an image that has no registry.
		evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
		imageGCHighThresholdPercent: 100
		nodeStatusUpdateFrequency: 2s
		nodeLeaseDurationSeconds: 10
		syncFrequency: 10s
	YAML
	cat >"$node/kube-proxy.yaml" <<-YAML
		apiVersion: kubeproxy.config.k8s.io/v1alpha1
		kind: KubeProxyConfiguration
		mode: nftables
		clientConnection: {kubeconfig: $pki/proxy.kubeconfig}
		clusterCIDR: $pod_cidr
		oomScoreAdj: 0
		metricsBindAddress: 127.0.0.1:10249
		# Limits of the whole machine, which a network namespace may not set.
		conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
	YAML
}

# launch starts node INDEX. A session of its own and no open descriptor let the caller of this script go on without it.
launch() { # INDEX
	local node=$state/node-$1 parent pid=
	setsid unshare --fork --kill-child=KILL --pid --mount-proc --mount --propagation private --net --uts \
		bash "$here/node.sh" "$1" >>"$node/log/node.log" 2>&1 </dev/null 9<&- &
	parent=$!
	for _ in $(seq 100); do
		pid=$(pgrep -P "$parent" -f "node.sh $1$" || true)
		[[ -z $pid ]] || break
		sleep 0.05
	done
	echo "$pid" >"$node/pid"
	[[ $pid ]] || fail "node $1 did not start; see $node/log/node.log"
}

in_node() { nsenter --target "$(cat "$state/node-$1/pid")" --net -- "${@:2}"; }

# connect brings a cable from the switch in node 1 to node INDEX.
connect() { # INDEX
	for _ in $(seq 100); do
		in_node 1 ip link show node0 >/dev/null 2>&1 && break
		sleep 0.05
	done
	in_node 1 ip link del "port$1" 2>/dev/null || true
	in_node 1 ip link add "port$1" type veth peer name node0 netns "$(cat "$state/node-$1/pid")"
	in_node 1 ip link set "port$1" master node0 up
}

kubectl() { "$here/in.sh" kubectl "$@"; }

# ready says whether every node is Ready and, without which no pod is admitted, the default service account is there.
ready() {
	local states
	states=$(kubectl get nodes -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}' 2>/dev/null) || return 1
	[[ $(wc -w <<<"$states") == "$count" && $states != *[FU]* ]] && kubectl get serviceaccount default >/dev/null 2>&1
}

await_ready() {
	local until=$((SECONDS + 180))
	until ready; do
		if ! running 1 || ((SECONDS >= until)); then
			tail -n 5 "$state"/node-*/log/*.log >&2
			fail "the nodes did not become Ready; their logs, whose last lines are above, are in $state/node-*/log"
		fi
		sleep 0.2
	done
}

if ! running 1 && [[ -n $(nodes) ]]; then
	fail 'node 1, which held the control plane, is gone; run hack/cluster/down.sh, and this again'
fi
programs=$("$here/build.sh" all)
mkdir -p "$state"
lock
SECONDS=0
made=$(nodes | tail -n 1)
if ((${made:-0} > count)); then count=$made; fi
ln -sfn "$programs" "$bin"
"$here/pki.sh" "$count"
new=()
for i in $(seq "$count"); do
	if ! running "$i"; then
		configure "$i"
		launch "$i"
		new+=("$i")
	fi
done
for i in "${new[@]}"; do
	if ((i > 1)); then connect "$i"; fi
done
await_ready
sed "s/DNS_IP/$dns_ip/" "$here/dns.yaml" | kubectl apply -f - >/dev/null
mkdir -p "$state"/node-1/volumes/{1..4}
"$here/volumes.sh" "$state/node-1/volumes" | kubectl apply -f - >/dev/null
kubectl -n kube-system rollout status daemonset/coredns --timeout 60s >/dev/null
echo "cluster: Ready after ${SECONDS}s, nodes: $count" >&2
