#!/usr/bin/env bash
# Builds the programs of a Kubernetes cluster from Go modules, once, and prints the folder that holds them:
#
#   hack/cluster/build.sh envtest           etcd, kube-apiserver and kubectl, for tests of a controller (KUBEBUILDER_ASSETS)
#   hack/cluster/build.sh apiserver-oldest  those, with the kube-apiserver of the oldest version that Swar promises to run on
#   hack/cluster/build.sh all               those of envtest, the rest of Kubernetes, containerd, runc, the CNI plugins, CoreDNS and images
#
# The folder lies under .cache/cluster and is named by a hash of what it is built from: a change of that makes another
# folder, and where the folder exists nothing is done; with -c before the level nothing is built in any case, and what
# is not there is an error. SWAR_CLUSTER_CACHE names another place than .cache/cluster, for checkouts that share one.
# Progress goes to standard error.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SWAR_CLUSTER_CACHE:-$here/../../.cache/cluster}
cached=
[[ ${1:-} != -c ]] || { cached=yes; shift; }
level=${1:-}
case $level in
envtest) sources=(k8s) took='6 minutes on two idle cores, 20 on busy ones' ;;
apiserver-oldest) sources=(k8s k8s-oldest) took='5 minutes on two idle cores, 15 on busy ones' ;;
all) sources=(k8s runtime dns image) took='10 minutes on two idle cores, 35 on busy ones' ;;
*) echo "usage: build.sh [-c] envtest|apiserver-oldest|all" >&2; exit 2 ;;
esac

say() { echo "cluster: $*" >&2; }

# hash prints a name for the content of the sources and of this file.
hash() {
	cd "$here"
	find build.sh "${sources[@]}" -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-12
}

# progress passes on what the compiler says and, every ten seconds, how many packages of TOTAL it has compiled.
progress() { # NAME TOTAL
	local count=0 next=$((SECONDS + 10)) line
	while IFS= read -r line; do
		if [[ $line == *[[:space:]]* ]]; then
			echo "$line" >&2
			continue
		fi
		count=$((count + 1))
		if ((SECONDS >= next)); then
			say "$1: compiled $count packages, $2 at most (${SECONDS}s)"
			next=$((SECONDS + 10))
		fi
	done
}

# build runs go build for PACKAGES of the module in the working directory and tells how it goes.
build() { # NAME FLAG… -- PACKAGE…
	local name=$1 flags=() total
	shift
	while [[ $1 != -- ]]; do flags+=("$1"); shift; done
	shift
	total=$(go list -deps "$@" | wc -l)
	go build -v "${flags[@]}" "$@" 2>&1 >/dev/null | progress "$name" "$total"
}

version() { go list -m -f '{{.Version}}' "$1"; }

# versioned builds a program that says that it is of the version of its Kubernetes.
versioned() { # NAME TAGS PACKAGE
	local version v=k8s.io/component-base/version major minor
	version=$(version k8s.io/kubernetes)
	IFS=. read -r major minor _ <<<"${version#v}"
	build "$1" -o "$bin/$1" -tags "$2" \
		-ldflags "-s -w -X $v.gitVersion=$version -X $v.gitMajor=$major -X $v.gitMinor=$minor -X $v.gitTreeState=clean" -- "$3"
}

# kubernetes builds one file that is all its programs, and links to it by their names.
kubernetes() { # TAGS NAME…
	local name
	cd "$here/k8s"
	versioned kubernetes "$1" .
	shift
	for name; do ln -s kubernetes "$bin/$name"; done
}

# oldest builds the API server of the oldest version, beside the rest of the newest, which FOLDER has.
oldest() { # FOLDER
	ln -s "$1/etcd" "$1/kubectl" "$bin/"
	cd "$here/k8s-oldest"
	versioned kube-apiserver '' k8s.io/kubernetes/cmd/kube-apiserver
}

runtime() {
	local containerd=github.com/containerd/containerd/v2 runc=github.com/opencontainers/runc
	local cni=github.com/containernetworking/plugins/plugins
	cd "$here/runtime"
	build containerd -o "$bin/" -tags 'no_btrfs no_devmapper no_zfs no_aufs' \
		-ldflags "-s -w -X $containerd/version.Version=$(version $containerd)" -- \
		$containerd/cmd/containerd $containerd/cmd/containerd-shim-runc-v2 $containerd/cmd/ctr
	build 'CNI plugins' -o "$bin/" -ldflags '-s -w' -- $cni/main/bridge $cni/main/loopback $cni/ipam/host-local $cni/meta/portmap
	CGO_ENABLED=1 build runc -o "$bin/" -tags 'seccomp netgo osusergo' \
		-ldflags "-s -w -linkmode external -extldflags -static -X main.version=$(version $runc)" -- $runc
}

# images writes the images that every node holds from the start.
images() {
	local work=$bin/../work
	mkdir "$work"
	cd "$here/dns"
	build CoreDNS -o "$work/coredns" -ldflags '-s -w' -- .
	cd "$here/image"
	build images -o "$work/" -ldflags '-s -w' -- ./pause ./smoke ./scratch
	for name in pause smoke coredns; do
		"$work/scratch" -name "swar.test/$name:1" -o "$bin/$name.tar" "$work/$name"
	done
	rm -r "$work"
}

# require fails before anything is built where what the build takes is missing. runc comes last, is linked statically with
# libseccomp, and is what takes a C compiler.
require() {
	local cc
	command -v go >/dev/null || { say 'Go is missing: https://go.dev/doc/install'; exit 1; }
	[[ $level == all ]] || return 0
	cc=$(cd "$here/runtime" && go env CC)
	command -v "${cc%% *}" >/dev/null || { say "the C compiler $cc is missing; run hack/install-deps.sh cluster"; exit 1; }
	command -v pkg-config >/dev/null || { say 'pkg-config is missing; run hack/install-deps.sh cluster'; exit 1; }
	pkg-config --exists libseccomp || { say 'libseccomp-dev is missing; run hack/install-deps.sh cluster'; exit 1; }
	# shellcheck disable=SC2046 # flags are several words
	$cc -x c -static -o /dev/null - $(pkg-config --static --cflags --libs libseccomp) <<-C ||
		#include <seccomp.h>
		int main(void) { return seccomp_init(SCMP_ACT_ALLOW) == 0; }
	C
		{ say 'a program cannot be linked statically with libseccomp (see above); run hack/install-deps.sh cluster'; exit 1; }
}

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
folder=$cache/$level-$(hash)
[[ -d $folder || -z $cached ]] || { say "$level is not built"; exit 1; }
if [[ ! -d $folder ]]; then
	require
	[[ $level != apiserver-oldest ]] || newest=$("$here/build.sh" envtest)
	exec 9>"$cache/lock"
	flock 9 # two builds at once would only take longer
fi
if [[ ! -d $folder ]]; then
	say "building Kubernetes from Go modules, once; from nothing this takes about $took, 250 MB of downloads and 6 GB of disk"
	export CGO_ENABLED=0 GOWORK=off GOFLAGS='-trimpath -mod=readonly -buildvcs=false'
	new=$(mktemp -d "$cache/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	chmod 755 "$new"
	bin=$new/bin
	mkdir "$bin"
	case $level in
	envtest) (kubernetes envtest etcd kube-apiserver kubectl) ;;
	apiserver-oldest) (oldest "$newest") ;;
	all)
		(kubernetes '' etcd kube-apiserver kubectl kube-controller-manager kube-scheduler kubelet kube-proxy)
		(runtime)
		(images)
		;;
	esac
	mv "$new" "$folder"
	times >"$folder/times"
	say "built $level in ${SECONDS}s; user and system time of the processor: $(tail -n 1 "$folder/times")"
fi
echo "$folder/bin"
