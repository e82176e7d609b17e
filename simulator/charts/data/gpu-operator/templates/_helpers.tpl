{{/* Labels of the chart's own objects. */}}
{{- define "model.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gpu-operator
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Whether this release is at least the one given: (list . "26.7.0") */}}
{{- define "model.since" -}}
{{- if semverCompare (printf ">=%s" (index . 1)) (trimPrefix "v" (index . 0).Chart.AppVersion) }}yes{{ end -}}
{{- end }}

{{/* A map without what is empty: "", lists and maps without entries. Numbers and booleans always stay. */}}
{{- define "model.given" -}}
{{- $given := dict }}
{{- range $key, $value := . }}
  {{- if kindIs "map" $value }}
    {{- $inner := include "model.given" $value | fromYaml }}
    {{- if $inner }}{{ $_ := set $given $key $inner }}{{ end }}
  {{- else if or $value (kindIs "bool" $value) (kindIs "float64" $value) (kindIs "int64" $value) (kindIs "int" $value) }}
    {{- $_ := set $given $key $value }}
  {{- end }}
{{- end }}
{{- toYaml $given }}
{{- end }}

{{/* An operand's section of the values as the ClusterPolicy has it; switches that only matter when on go when off. */}}
{{- define "model.operand" -}}
{{- $section := deepCopy . }}
{{- range list "hostNetwork" "hostPID" "enablePodLabels" "enablePodUID" }}
  {{- if not (index $section .) }}{{ $_ := unset $section . }}{{ end }}
{{- end }}
{{- include "model.given" $section }}
{{- end }}

{{/* Image of the operator itself. */}}
{{- define "model.image" -}}
{{- with .Values.operator }}{{ .repository }}/{{ .image }}:{{ .version | default $.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Where the operator's pods, those of its hooks included, may run. */}}
{{- define "model.placement" -}}
{{- with .Values.operator.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "model.secrets" -}}
{{- with .Values.operator.imagePullSecrets }}
imagePullSecrets: {{- range . }}{{ printf "\n- name: %s" . }}{{ end }}
{{- end }}
{{- end }}
