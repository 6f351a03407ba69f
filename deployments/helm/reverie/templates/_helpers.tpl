{{- define "reverie.labels" -}}
app.kubernetes.io/name: reverie
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "reverie.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "reverie.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "reverie.dagsterImage" -}}
{{ .Values.dagster.image.repository }}:{{ .Values.dagster.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Of every pod: nobody is root, and nobody asks the cluster for anything. */ -}}
{{- define "reverie.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "reverie.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Settings of a container: root, key of the database's secret. */ -}}
{{- define "reverie.env" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .root.Values.database.secret }}, key: {{ .key }}}
# the cores of the pod, where Python sees those of the node
- name: REVERIE_THREADS
  valueFrom:
    resourceFieldRef: {resource: requests.cpu, divisor: "1"}
{{- with .root.Values.telemetry.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "reverie.envFrom" -}}
{{- range .Values.settingsSecrets }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- end }}
