#!/usr/bin/env bash
# Prints volumes for claims that name no storage class: FOLDER/1 to FOLDER/4 of node 1, which holds the control plane and so
# is never drained or lost alone. volumes.sh FOLDER
set -euo pipefail
folder=${1:?usage: volumes.sh FOLDER}
cat <<-YAML
	apiVersion: storage.k8s.io/v1
	kind: StorageClass
	metadata:
	  name: local
	  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
	provisioner: kubernetes.io/no-provisioner
	volumeBindingMode: WaitForFirstConsumer
YAML
for i in 1 2 3 4; do
	cat <<-YAML
		---
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: local-$i}
		spec:
		  storageClassName: local
		  capacity: {storage: 10Gi}
		  accessModes: [ReadWriteOnce]
		  local: {path: $folder/$i}
		  nodeAffinity:
		    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-1]}]}]}
	YAML
done
