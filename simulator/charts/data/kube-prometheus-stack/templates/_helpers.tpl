{{- define "model.deployment" }}
{{- $root := index . 0 }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ index . 1 }}
  namespace: {{ $root.Release.Namespace }}
  labels: {app.kubernetes.io/name: {{ index . 2 }}}
spec:
  replicas: 1
  selector:
    matchLabels: {app.kubernetes.io/name: {{ index . 2 }}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: {{ index . 2 }}}
    spec:
      {{- with index . 4 }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with index . 5 }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ index . 2 }}
          image: {{ index . 3 }}
{{- end }}
