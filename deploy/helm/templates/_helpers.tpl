{{- define "lynqctl.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end -}}
{{- define "lynqctl.selector" -}}
app.kubernetes.io/name: lynqctl
app.kubernetes.io/instance: {{ include "lynqctl.name" . }}
{{- end -}}
{{- define "lynqctl.labels" -}}
{{ include "lynqctl.selector" . }}
app.kubernetes.io/component: watch
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
{{- end -}}
