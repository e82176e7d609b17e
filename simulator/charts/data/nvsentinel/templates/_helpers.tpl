{{- define "model.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/instance: nvsentinel
{{- end }}

{{- define "model.image" -}}
{{- $root := index . 0 }}
{{- printf "%s:%s%s" (index . 1).repository ((index . 1).tag | default $root.Chart.AppVersion) (index . 2) }}
{{- end }}

{{- define "model.account" }}
{{- $root := index . 0 }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ index . 1 }}
  namespace: {{ $root.Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ index . 1 }}
rules: {{- toYaml (index . 2) | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ index . 1 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ index . 1 }}}
subjects:
  - {kind: ServiceAccount, name: {{ index . 1 }}, namespace: {{ $root.Release.Namespace }}}
{{- end }}

{{- define "model.module" }}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $values := index . 2 }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "model.labels" $name | nindent 4 }}
spec:
  replicas: 1
  selector:
    matchLabels: {{- include "model.labels" $name | nindent 6 }}
  template:
    metadata:
      labels: {{- include "model.labels" $name | nindent 8 }}
      annotations:
        checksum/config: {{ toJson $values | sha256sum }}
    spec:
      serviceAccountName: {{ $name }}
      containers:
        - name: {{ $name }}
          image: {{ include "model.image" (list $root $values.image "") }}
          {{- if and (index . 3) $root.Values.global.datastore }}
          envFrom:
            - secretRef: {name: {{ $root.Values.global.datastore.credentialsFromSecret.name }}}
          {{- end }}
      {{- with $root.Values.global.systemNodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.global.systemNodeTolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}

{{- define "model.monitor" }}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $values := index . 3 }}
{{- $selector := index . 4 }}
{{- $pod := index . 5 }}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ index . 2 }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "model.labels" $name | nindent 4 }}
spec:
  selector:
    matchLabels: {{- include "model.labels" $name | nindent 6 }}
  template:
    metadata:
      labels: {{- include "model.labels" $name | nindent 8 }}
    spec:
      {{- with $pod }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      containers:
        - name: {{ $name }}
          image: {{ include "model.image" (list $root $values.image (index . 6)) }}
      {{- with merge $selector ($root.Values.global.nodeSelector | default $values.nodeSelector | default dict) }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.global.affinity | default $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.global.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
