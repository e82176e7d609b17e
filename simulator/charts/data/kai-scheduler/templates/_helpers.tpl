{{/* A map without what is empty. */}}
{{- define "model.given" -}}
{{- $given := dict }}
{{- range $key, $value := . }}
  {{- if or $value (kindIs "bool" $value) (kindIs "float64" $value) (kindIs "int64" $value) (kindIs "int" $value) }}
    {{- $_ := set $given $key $value }}
  {{- end }}
{{- end }}
{{- if $given }}{{ toYaml $given }}{{ end }}
{{- end }}

{{/* A tag: (list . image) */}}
{{- define "model.tag" -}}
{{- $root := index . 0 }}
{{- $tag := (index . 1).tag | default $root.Values.global.tag | default $root.Chart.AppVersion }}
{{- $tag }}{{ if $root.Values.global.fips }}-fips{{ end }}
{{- end }}

{{/* An image of a hook: (list . image) */}}
{{- define "model.image" -}}
{{- $root := index . 0 }}{{ $image := index . 1 }}
{{- $image.registry | default $root.Values.global.registry }}/{{ $image.name }}:{{ include "model.tag" . }}
{{- end }}

{{/* Where Pods of the chart itself may run. */}}
{{- define "model.placement" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* `service` of a component in the Config: (list . section) */}}
{{- define "model.service" -}}
{{- $root := index . 0 }}{{ $section := index . 1 }}
{{- $image := dict "name" $section.image.name "repository" $root.Values.global.registry }}
{{- $_ := set $image "tag" (include "model.tag" (list $root $section.image)) }}
{{- $_ := set $image "pullPolicy" ($section.image.pullPolicy | default $root.Values.global.imagePullPolicy) }}
{{- $service := dict "image" $image "resources" $section.resources "affinity" $section.affinity }}
{{- $_ := set $service "podDisruptionBudget" $section.podDisruptionBudget }}
{{- if hasKey $section "enabled" }}{{ $_ := set $service "enabled" $section.enabled }}{{ end }}
{{- include "model.given" $service }}
{{- end }}

{{/* A bare image in the Config: (list . image) */}}
{{- define "model.config-image" -}}
{{- $root := index . 0 }}{{ $image := index . 1 }}
name: {{ $image.name }}
repository: {{ $root.Values.global.registry }}
tag: {{ include "model.tag" . }}
pullPolicy: {{ $image.pullPolicy | default $root.Values.global.imagePullPolicy }}
{{- end }}

{{- define "model.hook" -}}
helm.sh/hook: {{ index . 0 }}
helm.sh/hook-weight: {{ index . 1 | quote }}
helm.sh/hook-delete-policy: {{ if eq (index . 0) "post-delete" }}hook-succeeded{{ else }}hook-succeeded,before-hook-creation{{ end }}
{{- end }}
