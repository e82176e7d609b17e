{{/* What all names begin with. */}}
{{- define "model.name" -}}
{{ .Values.global.name | default .Release.Name }}
{{- end }}

{{/* The volume of the Secret that an agent logs in with. */}}
{{- define "model.login" -}}
{{- with .Values.global }}
{{- if eq .loginMethod "token" }}
secretName: {{ .accountTokenSecret }}
items: [{key: {{ .accountTokenSecretKey }}, path: token.txt}]
{{- else }}
secretName: {{ .accountPasswordSecret }}
items: [{key: {{ .accountPasswordSecretKey }}, path: password.txt}]
{{- end }}
{{- end }}
{{- end }}

{{/* One agent: (list . section container command arguments) */}}
{{- define "model.agent" -}}
{{- $root := index . 0 }}{{ $section := index . 1 }}
{{- $name := printf "%s-%s" (include "model.name" $root) $section.serviceName }}
{{- $global := $root.Values.global }}
{{- $runner := and (eq (index . 2) "backend-worker") $root.Values.backendTestRunner.enabled }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $global.agentNamespace }}
  labels:
    app: {{ $name }}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: {{ $name }}
  template:
    metadata:
      labels:
        app: {{ $name }}
        simulator.physical-ai/played-by: mounts
        {{- with $section.extraPodLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      annotations:
        simulator.physical-ai/played-by: mounts
        {{- with $section.extraPodAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      serviceAccountName: {{ include "model.name" $root }}-{{ $section.serviceAccount }}
      {{- with merge (dict) $section.nodeSelector $global.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $global.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $global.imagePullSecret }}
      imagePullSecrets: [{name: {{ . }}}]
      {{- end }}
      {{- with $section.hostAliases }}
      hostAliases: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $section.initContainers }}
      initContainers: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ index . 2 }}
          image: {{ $global.osmoImageLocation }}/{{ $section.imageName }}:{{ $global.osmoImageTag }}
          imagePullPolicy: {{ $section.imagePullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            runAsNonRoot: true
            runAsUser: 1001
          command: [{{ index . 3 }}]
          args:
            - --host
            - {{ $global.serviceUrl | quote }}
            - --login_method
            - {{ $global.loginMethod }}
            {{- if eq $global.loginMethod "token" }}
            - --token_file
            - /opt/osmo/secrets/token.txt
            {{- else }}
            - --username
            - {{ $global.accountUsername | quote }}
            - --password_file
            - /opt/osmo/secrets/password.txt
            {{- end }}
            - --backend
            - {{ $global.backendName }}
            - --namespace
            - {{ $global.backendNamespace }}
            - --log_level
            - {{ $global.logs.logLevel }}
            - --k8s_log_level
            - {{ $global.logs.k8sLogLevel }}
            - --node_condition_prefix
            - {{ $global.nodeConditionPrefix | quote }}
            {{- range index . 4 }}
            - {{ . | quote }}
            {{- end }}
            {{- range $section.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          ports:
            - {name: metrics, containerPort: 9464}
          {{- with $section.extraEnvs }}
          env: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $section.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            - {name: osmo-secret, mountPath: /opt/osmo/secrets, readOnly: true}
            {{- if $runner }}
            - {name: backend-test-runner-template, mountPath: /tmp/backend-test-runner, readOnly: true}
            {{- end }}
            {{- with $section.volumeMounts }}{{ toYaml . | nindent 12 }}{{ end }}
          startupProbe:
            exec: {command: [progress_check]}
            {{- toYaml $section.startupProbe | nindent 12 }}
        {{- with $section.extraSidecarContainers }}{{ toYaml . | nindent 8 }}{{ end }}
      volumes:
        - name: osmo-secret
          secret: {{- include "model.login" $root | nindent 12 }}
        {{- if $runner }}
        - name: backend-test-runner-template
          configMap:
            name: {{ include "model.name" $root }}-backend-test-runner-template
            items: [{key: spec.yaml, path: spec.yaml}]
        {{- end }}
        {{- with $section.volumes }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end }}

{{/* A role and its binding: (list . kind name namespace account rules) */}}
{{- define "model.role" -}}
{{- $root := index . 0 }}{{ $kind := index . 1 }}{{ $name := index . 2 }}{{ $namespace := index . 3 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
rules: {{- toYaml (index . 5) | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ $name }}}
subjects:
  - {kind: ServiceAccount, name: {{ index . 4 }}, namespace: {{ $root.Values.global.agentNamespace }}}
{{- end }}
