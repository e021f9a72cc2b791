{{/* The name of the release's objects. */}}
{{- define "swar.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if regexMatch "^[0-9]" .Release.Name -}}
{{ fail (printf "no Service can have a name such as %s-operator, which begins with a digit: choose another name for the release, or set fullnameOverride" .Release.Name) }}
{{- else if contains "swar" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-swar" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "swar.operator" -}}{{ include "swar.fullname" . }}-operator{{- end -}}
{{- define "swar.metrics" -}}{{ include "swar.fullname" . }}-metrics{{- end -}}
{{- define "swar.portal" -}}{{ include "swar.fullname" . }}-portal{{- end -}}

{{/* Labels by which pods of a component are found; they never change. Takes (list . COMPONENT). Their name differs from that of
fleets' pods, so that no fleet is taken for them, whatever it is called. */}}
{{- define "swar.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: swar-{{ index . 1 }}
app.kubernetes.io/instance: {{ include "swar.fullname" $root }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of an object. Takes (list . COMPONENT). Not managed-by: swar-operator, which marks what the operator made. */}}
{{- define "swar.labels" -}}
{{- $root := index . 0 -}}
{{ include "swar.selector" . }}
app.kubernetes.io/part-of: swar
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{- include "swar.checkLabels" (list "commonLabels" .) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of users must not be those by which the chart finds its own objects. Takes (list VALUE LABELS). */}}
{{- define "swar.checkLabels" -}}
{{- $value := index . 0 -}}
{{- range $label, $_ := index . 1 -}}
{{- if or (hasPrefix "app.kubernetes.io/" $label) (eq $label "helm.sh/chart") -}}
{{ fail (printf "%s must not have %s, which the chart sets itself: choose another label" $value $label) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The reference of an image. Takes (list . NAME). Without a host in it, nodes would ask Docker Hub for a name that is not ours. */}}
{{- define "swar.image" -}}
{{- $root := index . 0 -}}
{{- $images := $root.Values.images -}}
{{- $image := get $images (index . 1) -}}
{{- if not (regexMatch "^(localhost|[^/]*[.:][^/]*)/" $image.repository) -}}
{{- if not $images.registry -}}
{{ fail "images.registry is missing: no public registry has Swar's images; run make images, then load dist/images/*.tar into the nodes and set images.registry=localhost/swar, or push them to your registry and set that (docs/kubernetes.md, Install)" }}
{{- end -}}
{{ trimSuffix "/" $images.registry }}/
{{- end -}}
{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default ($root.Chart.AppVersion | replace "+" "-") }}{{ end -}}
{{- end -}}

{{- define "swar.operatorAccount" -}}
{{- if not (or .Values.operator.serviceAccount.create .Values.operator.serviceAccount.name) -}}
{{ fail "operator.serviceAccount.name is missing: with create false, name an account that has the operator's roles" }}
{{- end -}}
{{ .Values.operator.serviceAccount.name | default (include "swar.operator" .) }}
{{- end -}}

{{/* The namespaces that the operator looks after, as JSON; empty for all. */}}
{{- define "swar.namespaces" -}}
{{- if eq .Values.operator.scope "Cluster" -}}
{{- if .Values.operator.namespaces }}{{ fail "operator.namespaces is for operator.scope Namespaced: leave it empty, or change the scope" }}{{ end -}}
[]
{{- else -}}
{{ .Values.operator.namespaces | default (list .Release.Namespace) | uniq | toJson }}
{{- end -}}
{{- end -}}

{{/* Who may read the operator's metrics: Authenticated, Open or Off. */}}
{{- define "swar.metricsAccess" -}}
{{- $access := .Values.operator.metrics.access -}}
{{- $isCluster := eq .Values.operator.scope "Cluster" -}}
{{- if and (eq $access "Authenticated") (not $isCluster) -}}
{{ fail "operator.metrics.access Authenticated asks the cluster who may read, which scope Namespaced has no permission for: take Open or Off, or operator.scope Cluster" }}
{{- end -}}
{{- if eq $access "Auto" -}}{{ ternary "Authenticated" "Open" $isCluster }}{{- else -}}{{ $access }}{{- end -}}
{{- end -}}

{{/* Where routers reach the portal, as the operator is told. */}}
{{- define "swar.dataplane" -}}
{{ include "swar.portal" . }}.$(POD_NAMESPACE).svc:8082
{{- end -}}

{{/* What the restricted Pod Security Standard wants of a pod, and of a container. */}}
{{- define "swar.podSecurity" -}}
runAsNonRoot: true
{{- if eq .Values.userIDs "Fixed" }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}
{{- define "swar.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* A flag of a command line. Takes (list NAME VALUE). */}}
{{- define "swar.flag" -}}
- {{ printf "--%s=%s" (index . 0) (toString (index . 1)) | quote }}
{{- end -}}

{{/* Where the pods of a component run. Takes (list . VALUES COMPONENT). */}}
{{- define "swar.placement" -}}
{{- $root := index . 0 -}}
{{- $values := index . 1 -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "swar.selector" (list $root (index . 2)) | nindent 8 }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What the portal answers at the address of the routers: its API, signing in, its pages, and the descriptions. */}}
{{- define "swar.portalPaths" -}}
/portal: Prefix
/auth: Prefix
/.well-known/openid-configuration: Exact
/oauth2/jwks: Exact
/app: Prefix
/docs: Prefix
/assets: Prefix
/signin: Exact
/setup: Exact
/welcome: Exact
/openapi.json: Exact
/asyncapi.json: Exact
/llms.txt: Exact
/favicon.svg: Exact
/manifest.webmanifest: Exact
/robots.txt: Exact
{{- end }}
