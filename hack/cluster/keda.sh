#!/usr/bin/env bash
# Builds KEDA from Go modules, once, and prints the folder that holds it: images for load-image.sh, and keda.yaml, which
# kubectl applies on the server's side (as apply --server-side does). With -c it builds nothing, and fails where the
# folder is not there. It wants what build.sh all makes.
#
# The folder lies beside those of build.sh, and is named by this file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SWAR_CLUSTER_CACHE:-$here/../../.cache/cluster}
module=github.com/kedacore/keda/v2@v2.21.0
sum=h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps= # of its go.sum line, by which it brings those of all its modules

folder=$cache/keda-$(sha256sum <"$here/keda.sh" | cut -c1-12)
if [[ -d $folder ]]; then
	cd "$folder" && pwd
	exit
fi
[[ ${1:-} != -c ]] || { echo "cluster: KEDA is not built; hack/cluster/keda.sh builds it" >&2; exit 1; }

echo 'cluster: building KEDA, once; from nothing this takes 15 minutes on two idle cores, 1 GB of downloads and 4 GB of disk' >&2
export CGO_ENABLED=0 GOWORK=off GOFLAGS='-trimpath -mod=readonly -buildvcs=false'
kubectl=$("$here/build.sh" all)/kubectl
mkdir -p "$cache"
new=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"

# field prints a field of what go mod download has to say about the module.
field() { cd / && go mod download -json "$module" | sed -n "s/^\t\"$1\": \"\(.*\)\",\?$/\1/p"; }
[[ $(field Sum) == "$sum" ]] || { echo "cluster: $module has the sum $(field Sum), not $sum" >&2; exit 1; }
source=$(field Dir)

(cd "$here/image" && go build -o "$new/scratch" ./scratch)
cd "$source"
for program in operator:keda adapter:keda-adapter; do
	name=${program#*:}
	go build -v -o "$new/$name" -ldflags '-s -w' "./cmd/${program%:*}" 2>&1 |
		awk -v name="$name" '/ / {print; next} ++n % 100 == 0 {print "cluster: " name ": compiled " n " packages"}' >&2
	"$new/scratch" -name "swar.test/$name:1" -o "$new/$name.tar" "$new/$name"
	rm "$new/$name"
done
# By a name that no registry has, so that an image which is missing is missed.
"$kubectl" kustomize config/minimal | sed -E \
	-e 's|image: .*/keda:.*|image: swar.test/keda:1|' \
	-e 's|image: .*/keda-metrics-apiserver:.*|image: swar.test/keda-adapter:1|' \
	-e 's|imagePullPolicy: .*|imagePullPolicy: Never|' >"$new/keda.yaml"
rm "$new/scratch"
mv "$new" "$folder"
cd "$folder" && pwd
