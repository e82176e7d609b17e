{{/* One process of OSMO: (list . section name command arguments environment) */}}
{{- define "model.process" -}}
{{- $root := index . 0 }}{{ $section := index . 1 }}{{ $name := index . 2 }}
{{- $values := $root.Values }}{{ $services := $values.services }}
{{- $keys := $services.configFile.enabled }}{{ $configs := and $services.configs.enabled (index . 6) }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    app: {{ $name }}
spec:
  {{- if hasKey $section "replicas" }}
  replicas: {{ $section.replicas }}
  {{- end }}
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
      serviceAccountName: {{ $section.serviceAccountName | default $values.global.serviceAccountName }}
      {{- with merge (dict) $section.nodeSelector $values.global.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $section.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.global.imagePullSecret }}
      imagePullSecrets: [{name: {{ . }}}]
      {{- end }}
      {{- with $section.initContainers }}
      initContainers: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ $name }}
          image: {{ $values.global.osmoImageLocation }}/{{ $section.imageName }}:{{ $values.global.osmoImageTag }}
          imagePullPolicy: {{ $section.imagePullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            runAsNonRoot: true
            runAsUser: 1001
          command: [{{ index . 3 }}]
          args:
            - --postgres_host
            - {{ $services.postgres.serviceName | quote }}
            - --postgres_port
            - {{ $services.postgres.port | quote }}
            - --postgres_database_name
            - {{ $services.postgres.db | quote }}
            - --postgres_user
            - {{ $services.postgres.user | quote }}
            {{- if $keys }}
            - --mek_file
            - {{ $services.configFile.path }}
            {{- end }}
            {{- range index . 4 }}
            - {{ . | quote }}
            {{- end }}
            {{- range $section.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          env:
            {{- if $keys }}
            - name: OSMO_POSTGRES_PASSWORD
              valueFrom: {secretKeyRef: {name: db-secret, key: db-password}}
            - name: OSMO_REDIS_PASSWORD
              valueFrom: {secretKeyRef: {name: redis-secret, key: redis-password}}
            {{- end }}
            {{- range index . 5 }}
            - {{ toYaml . | nindent 14 | trim }}
            {{- end }}
            {{- with $section.extraEnv }}{{ toYaml . | nindent 12 }}{{ end }}
            {{- with $section.extraEnvs }}{{ toYaml . | nindent 12 }}{{ end }}
          {{- /* The real chart has a second, empty list in osmo-agent and osmo-logger, which counts. */}}
          {{- if eq (index . 3) "router" }}
          ports: [{name: http, containerPort: 8000, protocol: TCP}]
          {{- else if not (has (index . 3) (list "agent" "logger")) }}
          ports: [{name: metrics, containerPort: 9464}]
          {{- end }}
          {{- with $section.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            {{- if $keys }}
            - {name: mek-volume, mountPath: {{ $services.configFile.path }}, subPath: mek.yaml}
            {{- end }}
            {{- if $configs }}
            - {name: configs, mountPath: /etc/osmo/configs, readOnly: true}
            {{- range $services.configs.secretRefs }}
            - {name: {{ .secretName }}, mountPath: /etc/osmo/secrets/{{ .secretName }}, readOnly: true}
            {{- end }}
            {{- end }}
            {{- with $section.volumeMounts }}{{ toYaml . | nindent 12 }}{{ end }}
            {{- with $section.extraVolumeMounts }}{{ toYaml . | nindent 12 }}{{ end }}
        {{- with $section.extraSidecars }}{{ toYaml . | nindent 8 }}{{ end }}
      volumes:
        {{- if $keys }}
        - name: mek-volume
          configMap: {name: mek-config, items: [{key: mek.yaml, path: mek.yaml}]}
        {{- end }}
        {{- if $configs }}
        - name: configs
          configMap: {name: {{ $services.service.serviceName }}-configs, items: [{key: config.yaml, path: config.yaml}]}
        {{- range $services.configs.secretRefs }}
        - name: {{ .secretName }}
          secret: {secretName: {{ .secretName }}}
        {{- end }}
        {{- end }}
        {{- with $section.volumes }}{{ toYaml . | nindent 8 }}{{ end }}
        {{- with $section.extraVolumes }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end }}

{{/* A Service in front of Pods with the same label: (list name port target headless) */}}
{{- define "model.service" -}}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ index . 0 }}
  labels:
    app: {{ index . 1 }}
spec:
  {{- if index . 3 }}
  clusterIP: None
  {{- end }}
  ports:
    - {name: http, port: 80, targetPort: {{ index . 2 }}, protocol: TCP}
  selector:
    app: {{ index . 1 }}
{{- end }}

{{/* The autoscaler of a Deployment: (list name scaling container) */}}
{{- define "model.scaling" -}}
{{- $scaling := index . 1 }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ index . 0 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ index . 0 }}}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  metrics:
    {{- with $scaling.hpaMemoryTarget | default $scaling.memoryTarget }}
    - type: ContainerResource
      containerResource:
        name: memory
        container: {{ index $ 2 }}
        target: {type: Utilization, averageUtilization: {{ . }}}
    {{- end }}
    - type: ContainerResource
      containerResource:
        name: cpu
        container: {{ index . 2 }}
        target: {type: Utilization, averageUtilization: {{ $scaling.hpaCpuTarget }}}
    {{- with $scaling.customMetrics }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{/* Labels of the gateway's Pods: (list . component) */}}
{{- define "model.gateway.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Values.gateway.name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* A Deployment of the gateway up to its containers: (list . component section) */}}
{{- define "model.gateway.head" -}}
{{- $root := index . 0 }}{{ $component := index . 1 }}{{ $section := index . 2 }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $root.Values.gateway.name }}-{{ $component }}
spec:
  replicas: {{ $section.scaling.minReplicas }}
  selector:
    matchLabels: {{- include "model.gateway.labels" (list $root $component) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "model.gateway.labels" (list $root $component) | nindent 8 }}
        simulator.physical-ai/played-by: mounts
      annotations:
        simulator.physical-ai/played-by: mounts
        {{- with $section.extraPodAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      serviceAccountName: {{ $section.serviceAccountName | default $root.Values.global.serviceAccountName }}
      {{- with $section.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $section.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
