#!/usr/bin/env bash
# The first process of node INDEX, in pid, mount, network and uts namespaces of its own. It lays the network,
# runs the node's programs (on node 1 those of the control plane too), starts again what ends, and ends them all when it
# is told to. up.sh starts it.
#
# A program whose name is a file in the node's folder "hold" is not started again until that file is gone: to stop the
# API server for a while, make that file and kill the process whose id, inside, is in the folder "pids".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"
i=$1
node=$state/node-$i
ip=$node_net.$i
export PATH=$bin:$PATH

supervisors=()
start() { # NAME FLAG…
	local name=$1
	shift
	(
		child=
		trap 'kill -TERM $child 2>/dev/null; exit' TERM
		while :; do
			if [[ ! -e $node/hold/$name ]]; then
				"$name" "$@" >>"$node/log/$name.log" 2>&1 &
				child=$!
				echo "$child" >"$node/pids/$name"
				wait "$child" || echo "$name ended with $?"
				rm "$node/pids/$name"
			fi
			sleep 0.2
		done
	) &
	supervisors+=($!)
}
end() {
	trap '' TERM
	kill -TERM "${supervisors[@]}" 2>/dev/null || true
	exit 0 # whatever still runs ends now: this is the first process
}
trap end TERM

await() { # SECONDS COMMAND…
	local until=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < until)) || fail "gave up waiting for: $*"
		sleep 0.1
	done
}

mounts() {
	mount --make-rshared / # among the node's own mounts; unshare has cut them from the machine's
	mount -t tmpfs -o mode=755 tmpfs /run
	mkdir -p /run/lock /run/netns
}

# kernel_settings shows the kubelet the settings that it wants, so that it does not write them: these few hold for the
# whole machine, whatever namespace they are written from.
kernel_settings() {
	local setting value copy
	while read -r setting value; do
		[[ -e /proc/sys/$setting ]] || continue
		copy=/run/sys/$setting
		mkdir -p "${copy%/*}"
		echo "$value" >"$copy"
		mount --bind "$copy" "/proc/sys/$setting"
	done <<-SETTINGS
		vm/overcommit_memory 1
		vm/panic_on_oom 0
		kernel/panic 10
		kernel/panic_on_oops 1
		kernel/keys/root_maxkeys 1000000
		kernel/keys/root_maxbytes 25000000
	SETTINGS
}

# network gives the node the device node0. On node 1 it is a bridge that stands for the network's switch; on the others it
# is the end of a cable that up.sh brings.
network() {
	hostname "node-$i"
	ip link set lo up
	if [[ $i == 1 ]]; then ip link add node0 type bridge; else await 20 ip link show node0; fi
	ip addr add "$ip/24" dev node0
	ip link set node0 up
	ip route add "$service_cidr" dev node0
	for j in $(seq 9); do # also nodes that come later
		[[ $j == "$i" ]] || ip route add "$pod_net.$j.0/24" via "$node_net.$j"
	done
	echo 1 >/proc/sys/net/ipv4/ip_forward
	if [[ -w /proc/sys/net/bridge/bridge-nf-call-iptables ]]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi
}

etcd_and_apiserver() {
	start etcd --name node-1 --data-dir "$node/etcd" --unsafe-no-fsync --log-level warn \
		--listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
		--listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
		--initial-cluster node-1=http://127.0.0.1:2380
	start kube-apiserver --etcd-servers http://127.0.0.1:2379 --advertise-address "$ip" --secure-port 6443 \
		--service-cluster-ip-range "$service_cidr" --allow-privileged \
		--tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
		--service-account-issuer https://kubernetes.default.svc.cluster.local \
		--service-account-key-file "$pki/service-account.pub" --service-account-signing-key-file "$pki/service-account.key" \
		--kubelet-client-certificate "$pki/apiserver-kubelet.crt" --kubelet-client-key "$pki/apiserver-kubelet.key" \
		--kubelet-certificate-authority "$pki/ca.crt" --kubelet-preferred-address-types InternalIP \
		--requestheader-client-ca-file "$pki/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client \
		--requestheader-extra-headers-prefix X-Remote-Extra- --requestheader-group-headers X-Remote-Group \
		--requestheader-username-headers X-Remote-User --enable-aggregator-routing \
		--proxy-client-cert-file "$pki/front-proxy.crt" --proxy-client-key-file "$pki/front-proxy.key" \
		--authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
		--audit-policy-file "$here/audit.yaml" --audit-log-path "$node/log/audit.log"
}

# controllers look soon for nodes that are lost and metrics that have changed, so that tests need not wait for minutes.
# The limits on requests are for big clusters: with them a cluster takes twice as long to be ready.
controllers() {
	local common=(--bind-address 127.0.0.1 --leader-elect=false --kube-api-qps 500 --kube-api-burst 1000) config
	config=$pki/controller-manager.kubeconfig
	start kube-controller-manager "${common[@]}" --kubeconfig "$config" --authentication-kubeconfig "$config" \
		--authorization-kubeconfig "$config" --use-service-account-credentials --root-ca-file "$pki/ca.crt" \
		--service-account-private-key-file "$pki/service-account.key" \
		--cluster-signing-cert-file "$pki/ca.crt" --cluster-signing-key-file "$pki/ca.key" \
		--node-monitor-grace-period 12s --horizontal-pod-autoscaler-sync-period 2s
	config=$pki/scheduler.kubeconfig
	start kube-scheduler "${common[@]}" --kubeconfig "$config" --authentication-kubeconfig "$config" --authorization-kubeconfig "$config"
}

import_images() {
	local archive
	for archive in "$bin"/*.tar; do ctr -n k8s.io images import "$archive"; done
}

rm -f "$node"/pids/* "$node"/hold/*
mounts
kernel_settings
network
start containerd --config "$node/containerd.toml"
if [[ $i == 1 ]]; then etcd_and_apiserver; fi
await 60 ctr version
import_images >/dev/null &
importing=$!
await 120 kubectl --kubeconfig "$pki/admin.kubeconfig" get --raw /readyz
if [[ $i == 1 ]]; then controllers; fi
wait $importing
zones=(- a b c d e f g h i)
start kubelet --config "$node/kubelet.yaml" --kubeconfig "$pki/node-$i.kubeconfig" --root-dir "$node/kubelet" \
	--hostname-override "node-$i" --node-ip "$ip" \
	--node-labels "topology.kubernetes.io/region=local,topology.kubernetes.io/zone=${zones[i]}"
start kube-proxy --config "$node/kube-proxy.yaml" --hostname-override "node-$i"
while :; do wait || true; done
