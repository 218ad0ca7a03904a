{{- define "sluice.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "sluice.secretName" -}}
{{ .Values.existingSecret | default (include "sluice.name" .) }}
{{- end }}

{{/* "true" where nodes share PostgreSQL; empty with SQLite, which only one node may open. */}}
{{- define "sluice.usesPostgres" -}}
{{- if or .Values.usesPostgres .Values.secret.databaseUrl }}true{{ end }}
{{- end }}

{{/* What the server and its migrations need to start. */}}
{{- define "sluice.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - secretRef: { name: {{ include "sluice.secretName" . }} }
env:
  - { name: DRAIN_DELAY, value: {{ .Values.drain.delay | quote }} }
  - { name: DRAIN_LIMIT, value: {{ .Values.drain.limit | quote }} }
  - { name: DRAIN_RESUMABLE, value: {{ .Values.drain.resumable | quote }} }
  {{- range $name, $value := .Values.env }}
  - { name: {{ $name }}, value: {{ $value | toString | quote }} }
  {{- end }}
volumeMounts:
  - { name: data, mountPath: /data }
{{- end }}
