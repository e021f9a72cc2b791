#!/usr/bin/env bash
# Writes the keys, certificates and kubeconfigs of a cluster with COUNT nodes, those that are missing. Called by up.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/settings.sh"
count=${1:?usage: pki.sh COUNT}

umask 077
mkdir -p "$pki"
cd "$pki"

key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1.key"; }

# authority NAME makes a certificate authority.
authority() {
	[[ ! -f $1.crt ]] || return 0
	key "$1"
	openssl req -x509 -new -key "$1.key" -sha256 -days 365 -subj "/CN=$1" -out "$1.crt" -addext 'keyUsage=critical,keyCertSign,cRLSign'
}

# certificate NAME AUTHORITY SUBJECT USAGE [ADDRESSES] makes a key and a certificate.
certificate() {
	[[ ! -f $1.crt ]] || return 0
	key "$1"
	openssl req -new -key "$1.key" -subj "$3" -out "$1.csr"
	printf '%s\n' 'keyUsage=critical,digitalSignature' "extendedKeyUsage=$4" ${5:+"subjectAltName=$5"} >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -set_serial "0x$(openssl rand -hex 8)" \
		-days 365 -sha256 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
	rm "$1.csr" "$1.ext"
}

# client NAME SUBJECT makes a client of the API server: a certificate and a kubeconfig.
client() {
	certificate "$1" ca "$2" clientAuth
	[[ ! -f $1.kubeconfig ]] || return 0
	cat >"$1.kubeconfig" <<-CONFIG
		apiVersion: v1
		kind: Config
		clusters: [{name: $name, cluster: {server: "https://$node_net.1:6443", certificate-authority: $pki/ca.crt}}]
		users: [{name: $1, user: {client-certificate: $pki/$1.crt, client-key: $pki/$1.key}}]
		contexts: [{name: $name, context: {cluster: $name, user: $1}}]
		current-context: $name
	CONFIG
}

authority ca
authority front-proxy-ca
if [[ ! -f service-account.pub ]]; then
	key service-account
	openssl ec -in service-account.key -pubout -out service-account.pub 2>/dev/null
fi
kubernetes=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
certificate apiserver ca /CN=kube-apiserver serverAuth "$kubernetes,IP:127.0.0.1,IP:$node_net.1,IP:$service_ip"
certificate apiserver-kubelet ca /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth
certificate front-proxy front-proxy-ca /CN=front-proxy-client clientAuth
client admin /O=system:masters/CN=admin
client controller-manager /CN=system:kube-controller-manager
client scheduler /CN=system:kube-scheduler
client proxy /CN=system:kube-proxy
for i in $(seq "$count"); do
	client "node-$i" "/O=system:nodes/CN=system:node:node-$i"
	certificate "node-$i-server" ca "/CN=node-$i" serverAuth "DNS:node-$i,IP:$node_net.$i"
done
