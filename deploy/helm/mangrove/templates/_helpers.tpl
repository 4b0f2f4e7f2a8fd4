{{/* The mode of a component: its own, else the chart's. Takes (dict "root" $ "part" .Values.manager). */}}
{{- define "mangrove.mode" -}}
{{- default .root.Values.mode .part.mode -}}
{{- end -}}

{{- define "mangrove.image" -}}
{{- $i := .Values.image -}}
{{- if $i.digest }}{{ $i.repository }}@{{ $i.digest }}{{ else }}{{ $i.repository }}:{{ default .Chart.AppVersion $i.tag }}{{ end -}}
{{- end -}}

{{- define "mangrove.labels" -}}
app.kubernetes.io/name: mangrove
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* What selects the pods of a component; takes (dict "root" $ "component" "manager"). */}}
{{- define "mangrove.selector" -}}
app.kubernetes.io/name: mangrove
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "mangrove.agentNamespace" -}}
{{- default .Release.Namespace .Values.agent.namespace -}}
{{- end -}}

{{- define "mangrove.managerEnforces" -}}
{{- if and .Values.manager.enabled (eq "enforce" (include "mangrove.mode" (dict "root" . "part" .Values.manager))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.schedulerEnforces" -}}
{{- if and .Values.scheduler.enabled (eq "enforce" (include "mangrove.mode" (dict "root" . "part" .Values.scheduler))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.agentEnforces" -}}
{{- if and .Values.agent.enabled (eq "enforce" (include "mangrove.mode" (dict "root" . "part" .Values.agent))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.deschedulerEnforces" -}}
{{- if and .Values.descheduler.enabled (eq "enforce" (include "mangrove.mode" (dict "root" . "part" .Values.descheduler))) }}yes{{ end -}}
{{- end -}}

{{/* How long readers trust a report. Unasked, ten minutes and a margin where all who read and write them are ours. */}}
{{- define "mangrove.reportValidity" -}}
{{- $said := toString .Values.manager.reportValidity -}}
{{- if ne $said "auto" }}{{ $said }}
{{- else if and (include "mangrove.managerEnforces" .) (include "mangrove.schedulerEnforces" .) (include "mangrove.agentEnforces" .) }}13m{{ end -}}
{{- end -}}

{{- define "mangrove.managerShadows" -}}
{{- if and .Values.manager.enabled (eq "shadow" (include "mangrove.mode" (dict "root" . "part" .Values.manager))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.agentShadows" -}}
{{- if and .Values.agent.enabled (eq "shadow" (include "mangrove.mode" (dict "root" . "part" .Values.agent))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.anyEnforces" -}}
{{- include "mangrove.managerEnforces" . }}{{ include "mangrove.schedulerEnforces" . }}{{ include "mangrove.agentEnforces" . }}{{ include "mangrove.deschedulerEnforces" . -}}
{{- end -}}

{{/* Whether observing agents report. Unasked, only where a cluster answered and runs no koordlet: two reporters of one node would
     overwrite each other. */}}
{{- define "mangrove.reports" -}}
{{- $said := toString .Values.agent.reports -}}
{{- if eq $said "always" }}yes
{{- else if eq $said "auto" -}}
  {{- if include "mangrove.agentEnforces" . }}yes
  {{- else if lookup "v1" "Namespace" "" "kube-system" -}}
    {{- $koordlet := false -}}
    {{- range (lookup "apps/v1" "DaemonSet" "" "").items -}}
      {{- if or (eq .metadata.name "koordlet") (eq "koordlet" (dig "labels" "koord-app" "" .metadata)) }}{{ $koordlet = true }}{{ end -}}
    {{- end -}}
    {{- if not $koordlet }}yes{{ end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* An observing manager has one thing to do: keep the NodeMetrics that observing agents report into. One in the shadow decides everything
     and writes nothing. */}}
{{- define "mangrove.managerRuns" -}}
{{- if .Values.manager.enabled -}}
{{- if or (include "mangrove.managerEnforces" .) (include "mangrove.managerShadows" .) (include "mangrove.reports" .) }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{- define "mangrove.webhooks" -}}
{{- $said := toString .Values.manager.webhooks.enabled -}}
{{- if and .Values.manager.enabled (or (eq $said "true") (and (eq $said "auto") (include "mangrove.managerEnforces" .))) }}yes{{ end -}}
{{- end -}}

{{- define "mangrove.managerLease" -}}
{{- if include "mangrove.managerEnforces" . }}koordinator-manager{{ else }}mangrove-manager{{ end -}}
{{- end -}}
{{- define "mangrove.managerLeaseNamespace" -}}
{{- if include "mangrove.managerEnforces" . }}{{ .Values.koordinator.namespace }}{{ else }}{{ .Release.Namespace }}{{ end -}}
{{- end -}}
{{- define "mangrove.schedulerLease" -}}
{{- if include "mangrove.schedulerEnforces" . }}koord-scheduler{{ else }}mangrove-scheduler{{ end -}}
{{- end -}}
{{- define "mangrove.schedulerLeaseNamespace" -}}
{{- if include "mangrove.schedulerEnforces" . }}{{ .Values.koordinator.namespace }}{{ else }}{{ .Release.Namespace }}{{ end -}}
{{- end -}}

{{- define "mangrove.deschedulerLease" -}}
{{- if include "mangrove.deschedulerEnforces" . }}koord-descheduler{{ else }}mangrove-descheduler{{ end -}}
{{- end -}}
{{- define "mangrove.deschedulerLeaseNamespace" -}}
{{- if include "mangrove.deschedulerEnforces" . }}{{ .Values.koordinator.namespace }}{{ else }}{{ .Release.Namespace }}{{ end -}}
{{- end -}}

{{/* Where the ConfigMap is. A cluster that never had Koordinator has no such namespace, and observing makes none. */}}
{{- define "mangrove.configNamespace" -}}
{{- $home := .Values.koordinator.namespace -}}
{{- if and (not (include "mangrove.anyEnforces" .)) (lookup "v1" "Namespace" "" "kube-system") (not (lookup "v1" "Namespace" "" $home)) }}{{ .Release.Namespace }}{{ else }}{{ $home }}{{ end -}}
{{- end -}}

{{/* A=true,B=false */}}
{{- define "mangrove.gates" -}}
{{- $list := list -}}
{{- range $name, $on := . }}{{ $list = append $list (printf "%s=%t" $name $on) }}{{ end -}}
{{- join "," $list -}}
{{- end -}}

{{/* The objects of a file of config/, with our namespaces, names and labels. Takes root, file, namespace (of accounts), roleNamespaces
     (a Role's name to its namespace; default: namespace), replace (text to text, before reading) and without ("resource verb" of rules
     that are not needed here). */}}
{{- define "mangrove.objects" -}}
{{- $text := .root.Files.Get .file -}}
{{- if not $text }}{{ fail (printf "the chart has no %s" .file) }}{{ end -}}
{{- range $from, $to := .replace }}{{ $text = replace $from $to $text }}{{ end -}}
{{- $places := default dict .roleNamespaces -}}
{{- $own := .namespace -}}
{{- $labels := include "mangrove.labels" .root | fromYaml -}}
{{- range $document := splitList "\n---\n" $text }}
{{- $object := fromYaml $document }}
{{- $meta := merge (dict "labels" $labels) $object.metadata }}
{{- if eq $object.kind "ServiceAccount" }}{{ $_ := set $meta "namespace" $own }}
{{- else if hasKey $meta "namespace" }}{{ $_ := set $meta "namespace" (default $own (get $places $meta.name)) }}{{ end }}
{{- $_ := set $object "metadata" $meta }}
{{- if and $object.rules $.without }}
{{- $kept := list }}
{{- range $rule := $object.rules }}{{ if not (has (printf "%s %s" (join "," $rule.resources) (join "," $rule.verbs)) $.without) }}{{ $kept = append $kept $rule }}{{ end }}{{ end }}
{{- $_ := set $object "rules" $kept }}
{{- end }}
{{- range $subject := $object.subjects }}{{ $_ := set $subject "namespace" $own }}{{ end }}
---
{{ toYaml $object }}
{{- end }}
{{- end -}}

{{- define "mangrove.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* What the pods of the Deployments have in common; takes root, part, component. */}}
{{- define "mangrove.podCommon" -}}
serviceAccountName: mangrove-{{ .component }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
priorityClassName: {{ .part.priorityClassName | quote }}
securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
terminationGracePeriodSeconds: 30
{{- with .part.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "mangrove.selector" . | nindent 8 }}
{{- end -}}
