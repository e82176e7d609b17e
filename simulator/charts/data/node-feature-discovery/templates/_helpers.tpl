{{- define "nfd.name" -}}
{{- .Values.fullnameOverride | default (printf "%s-%s" .Release.Name (.Values.nameOverride | default .Chart.Name)) | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "nfd.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "nfd.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nfd.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- define "nfd.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" (trimPrefix "v" .Chart.AppVersion)) }}
{{- end }}

{{/* What the pods of one role have in common: (list . section role command) */}}
{{- define "nfd.pod" -}}
{{- $root := index . 0 }}
{{- $section := index . 1 }}
{{- $role := index . 2 }}
metadata:
  labels:
    {{- include "nfd.selector" $root | nindent 4 }}
    role: {{ $role }}
    {{- with $section.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $section.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ $section.serviceAccount.name | default (printf "%s-%s" (include "nfd.name" $root) $role) }}
  {{- with $section.priorityClassName | default $root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  dnsPolicy: {{ $section.dnsPolicy }}
  {{- if $section.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with $section.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $section.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $section.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $section.podSecurityContext }}
  securityContext: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $section.initContainers }}
  initContainers: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $role }}
      image: {{ include "nfd.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [nfd-{{ $role }}]
      {{- $owners := list }}
      {{- with $section.ownerRefs }}{{ $owners = list (printf "-owner-refs=%s" (join "," .)) }}{{ end }}
      {{- with concat $owners $section.extraArgs }}
      args: {{- toYaml . | nindent 8 }}
      {{- end }}
      env:
        - name: NODE_NAME
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
        {{- with $section.extraEnvs }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with $section.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $section.securityContext }}
      securityContext: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if ne $role "gc" }}
      volumeMounts:
        - {name: conf, mountPath: /etc/kubernetes/node-feature-discovery, readOnly: true}
        {{- if eq $role "worker" }}
        - {name: host-sys, mountPath: /host-sys, readOnly: true}
        - {name: host-boot, mountPath: /host-boot, readOnly: true}
        - {name: host-os-release, mountPath: /host-etc/os-release, readOnly: true}
        {{- end }}
      {{- end }}
  {{- if ne $role "gc" }}
  volumes:
    - name: conf
      configMap: {name: {{ include "nfd.name" $root }}-{{ $role }}-conf}
    {{- if eq $role "worker" }}
    {{- /* Host paths: the namespace has to allow privileged pods. */}}
    - name: host-sys
      hostPath: {path: /sys}
    - name: host-boot
      hostPath: {path: /boot}
    - name: host-os-release
      hostPath: {path: /etc/os-release}
    {{- end }}
  {{- end }}
{{- end }}
