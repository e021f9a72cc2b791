package main

import (
	"errors"
	"strings"
)

const crdHead = `{{- /* Written by go generate ./hack/chart, from config/crd. */}}
{{- if .Values.crds.enabled }}
`

// crdTemplate makes a definition part of a release, if it is wanted, and has Helm leave it where it is to stay.
func crdTemplate(crd string) (string, error) {
	if strings.Contains(crd, "{{") {
		return "", errors.New("it has {{ in it, which Helm would run: say that otherwise in the comments of api/v1alpha1")
	}
	before, after, found := strings.Cut(strings.TrimPrefix(crd, "---\n"), "\n  name: ")
	if !found || !strings.Contains(before, "\n  annotations:\n") {
		return "", errors.New("it has no annotations before its name, as controller-gen writes them")
	}
	return crdHead + before + `
    {{- if .Values.crds.keep }}
    helm.sh/resource-policy: keep
    {{- end }}
  labels: {{- include "swar.labels" (list . "crds") | nindent 4 }}
  name: ` + after + "{{- end }}\n", nil
}
