{{/* One DaemonSet of agents: root, name, mode, and operator: In or NotIn the nodes of agent.enforceOn ("": all nodes). */}}
{{- define "mangrove.agent" -}}
{{- $root := .root }}
{{- $a := $root.Values.agent }}
{{- $enforces := eq .mode "enforce" }}
{{- $reports := or $enforces (include "mangrove.reports" $root) }}
{{- $port := ternary (int $a.port) (ternary 9316 9416 $enforces) (gt (int $a.port) 0) }}
{{- $deepReadOnly := semverCompare ">=1.31-0" $root.Capabilities.KubeVersion.Version }}
{{- $part := dict "root" $root "component" (ternary "agent-enforce" "agent" (eq .name "mangrove-agent-enforce")) }}
{{- $gates := dict }}
{{- if not $reports }}{{ $_ := set $gates "NodeTopologyReport" false }}{{ end }}
{{- $gates = merge $gates $a.featureGates }}
{{- $affinity := deepCopy $a.affinity }}
{{- if .operator }}
{{- $label := splitn "=" 2 $a.enforceOn }}
{{- $one := dict "matchExpressions" (list (dict "key" $label._0 "operator" .operator "values" (list $label._1))) }}
{{- $_ := set $affinity "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" (list $one))) }}
{{- end -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .name }}
  namespace: {{ include "mangrove.agentNamespace" $root }}
  labels: {{- include "mangrove.labels" $root | nindent 4 }}
    app.kubernetes.io/component: agent
spec:
  selector:
    matchLabels: {{- include "mangrove.selector" $part | nindent 6 }}
  updateStrategy: {{- toYaml $a.updateStrategy | nindent 4 }}
  template:
    metadata:
      labels: {{- include "mangrove.selector" $part | nindent 8 }}
        mangrove.io/agent: {{ .mode }}
      {{- with $a.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: mangrove-agent
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
      {{- range . }}
        - name: {{ . }}
      {{- end }}
      {{- end }}
      priorityClassName: {{ $a.priorityClassName | quote }}
      hostNetwork: true
      hostPID: true
      dnsPolicy: ClusterFirstWithHostNet
      terminationGracePeriodSeconds: 30
      {{- with $a.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $a.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: agent
          image: {{ include "mangrove.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            - agent
            - --logging-format={{ $root.Values.logging.format }}
            - -v={{ $root.Values.logging.verbosity }}
            - --addr=:{{ $port }}
            - --enforce={{ ne .mode "observe" }}
            {{- if eq .mode "shadow" }}
            - --dry-run
            {{- end }}
            - --enable-node-metric-report={{ if $reports }}true{{ else }}false{{ end }}
            - --enable-nri-runtime-hook={{ and $enforces $a.nri }}
            - --runtime-hooks-nri-socket-path=/run/nri/nri.sock
            - --guardian=false
            - --audit-log-dir=/var/lib/mangrove/agent/audit
            {{- if $a.kubelet }}
            - --pod-source=kubelet
            {{- if $a.kubeletCA }}
            - --kubelet-certificate-authority=/etc/mangrove/kubelet/ca.crt
            {{- end }}
            {{- else }}
            - --disable-query-kubelet-config
            {{- end }}
            {{- with $a.cgroupDriver }}
            - --cgroup-driver={{ . }}
            {{- end }}
            {{- with $gates }}
            - --feature-gates={{ include "mangrove.gates" . }}
            {{- end }}
            {{- with $a.runtimeHooks }}
            - --runtime-hooks={{ include "mangrove.gates" . }}
            {{- end }}
            {{- range $a.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          env:
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          ports:
            - {name: metrics, containerPort: {{ $port }}, hostPort: {{ $port }}}
          startupProbe: {httpGet: {path: /healthz, port: metrics}, periodSeconds: 1, failureThreshold: 60}
          livenessProbe: {httpGet: {path: /healthz, port: metrics}, periodSeconds: 10, failureThreshold: 6}
          readinessProbe: {httpGet: {path: /readyz, port: metrics}, periodSeconds: 5}
          resources: {{- toYaml $a.resources | nindent 12 }}
          securityContext:
            runAsUser: 0  # the documented exception: cgroups and host paths belong to root
            readOnlyRootFilesystem: true
            {{- if and $enforces $a.privileged }}
            privileged: true
            {{- else }}
            allowPrivilegeEscalation: false
            seccompProfile: {type: RuntimeDefault}
            capabilities:
              drop: [ALL]
              {{- if $enforces }}
              add: {{- toYaml $a.capabilities | nindent 16 }}
              {{- end }}
            {{- end }}
          volumeMounts:
            {{- include "mangrove.hostMount" (dict "name" "sys" "path" "/sys" "write" $enforces "deep" $deepReadOnly) | nindent 12 }}
            {{- include "mangrove.hostMount" (dict "name" "cgroup" "path" "/sys/fs/cgroup" "write" $enforces "deep" $deepReadOnly) | nindent 12 }}
            {{- include "mangrove.hostMount" (dict "name" "kubelet" "path" $a.kubeletDir "write" false "deep" $deepReadOnly) | nindent 12 }}
            - {name: run, mountPath: /run/mangrove}
            - {name: state, mountPath: /var/lib/mangrove}
            {{- if and $a.kubelet $a.kubeletCA }}
            - {name: kubelet-ca, mountPath: /etc/mangrove/kubelet, readOnly: true}
            {{- end }}
            {{- if and $enforces $a.nri }}
            - {name: nri, mountPath: /run/nri}
            {{- end }}
        {{- if $enforces }}
        - name: guardian
          image: {{ include "mangrove.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [agent, guardian, --heartbeat=/run/mangrove/agent/heartbeat]
          resources: {{- toYaml $a.guardian.resources | nindent 12 }}
          securityContext:
            runAsUser: 0
            readOnlyRootFilesystem: true
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            seccompProfile: {type: RuntimeDefault}
          volumeMounts:
            - {name: cgroup, mountPath: /sys/fs/cgroup}
            - {name: run, mountPath: /run/mangrove}
        {{- end }}
      volumes:
        - {name: sys, hostPath: {path: /sys, type: Directory}}
        - {name: cgroup, hostPath: {path: /sys/fs/cgroup, type: Directory}}
        - {name: kubelet, hostPath: {path: {{ $a.kubeletDir }}, type: DirectoryOrCreate}}
        - {name: run, hostPath: {path: /run/mangrove, type: DirectoryOrCreate}}
        - {name: state, hostPath: {path: /var/lib/mangrove, type: DirectoryOrCreate}}
        {{- if and $a.kubelet $a.kubeletCA }}
        - {name: kubelet-ca, configMap: {name: {{ $a.kubeletCA }}}}
        {{- end }}
        {{- if and $enforces $a.nri }}
        - {name: nri, hostPath: {path: {{ $a.nriSocketDir }}, type: DirectoryOrCreate}}
        {{- end }}
{{- end -}}

{{/* A folder of the node. Read-only goes below the mount too where the cluster can say so: the hierarchies of cgroup v1 are mounts. */}}
{{- define "mangrove.hostMount" -}}
- name: {{ .name }}
  mountPath: {{ .path }}
  {{- if not .write }}
  readOnly: true
  {{- if .deep }}
  recursiveReadOnly: IfPossible
  {{- end }}
  {{- end }}
{{- end -}}
