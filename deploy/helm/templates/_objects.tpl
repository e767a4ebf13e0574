{{/*
The objects are those of deploy/ (files/ has links to them), so that each is written once. A template reads a file, sets what the values
say, and prints it. An empty value leaves what the file says.
*/}}

{{/* The object of a file, in the namespace of the values: (list ROOT FILE). */}}
{{- define "ingester.object" -}}
{{- $root := index . 0 -}}
{{- $file := index . 1 -}}
{{- $object := $root.Files.Get (print "files/" $file) | required (print "the chart lacks files/" $file) | fromYaml -}}
{{- $namespace := $root.Values.namespace.name -}}
{{- if eq (get $object.metadata "namespace") "ingester" -}}
{{- $_ := set $object.metadata "namespace" $namespace -}}
{{- end -}}
{{- range $object.subjects -}}
{{- if eq .kind "ServiceAccount" -}}
{{- $_ := set . "namespace" $namespace -}}
{{- $_ := set . "name" (include "ingester.account" (list $root .name)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{/* The name that a service account of the files has by the values: (list ROOT NAME). */}}
{{- define "ingester.account" -}}
{{- $values := (index . 0).Values -}}
{{- $name := index . 1 -}}
{{- ternary $values.server.serviceAccount.name $values.serviceAccount.name (eq $name "ingester-server") | default $name -}}
{{- end -}}

{{/* A service account: (list ROOT FILE VALUES). */}}
{{- define "ingester.serviceAccount" -}}
{{- $object := include "ingester.object" (list (index . 0) (index . 1)) | fromYaml -}}
{{- $values := index . 2 -}}
{{- $_ := set $object.metadata "name" (default $object.metadata.name $values.name) -}}
{{- with $values.annotations -}}
{{- $_ := set $object.metadata "annotations" . -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{/* A ConfigMap whose key `ingester.yaml` is the file's with the configuration of the values over it: (list ROOT FILE CONFIG). */}}
{{- define "ingester.configMap" -}}
{{- $root := index . 0 -}}
{{- $object := include "ingester.object" (list $root (index . 1)) | fromYaml -}}
{{- with index . 2 -}}
{{- $merged := mergeOverwrite (index $object.data "ingester.yaml" | fromYaml) . -}}
{{- $_ := set $object.data "ingester.yaml" (print (toYaml $merged) "\n") -}}
{{- end -}}
{{- range $key, $value := dict "MYSQL_HOST" $root.Values.mysql.host "MYSQL_PORT" $root.Values.mysql.port "MYSQL_DB_NAME" $root.Values.mysql.database -}}
{{- if hasKey $object.data $key -}}
{{- if $root.Values.postgres.enabled -}}
{{- $_ := unset $object.data $key -}}
{{- else if $value -}}
{{- $_ := set $object.data $key (toString $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{/* The name of the Secret of the database. */}}
{{- define "ingester.secret" -}}
{{- with .Values -}}
{{- if .postgres.enabled -}}{{ .postgres.secret.name | default "ingester-postgres" }}{{- else -}}{{ .mysql.secret.name | default "ingester-mysql" }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* A Deployment or the Job, with what the values say about its pods: (list ROOT FILE VALUES). */}}
{{- define "ingester.pods" -}}
{{- $root := index . 0 -}}
{{- $values := index . 2 -}}
{{- $object := include "ingester.object" (list $root (index . 1)) | fromYaml -}}
{{- $template := $object.spec.template -}}
{{- $pod := $template.spec -}}
{{- $container := first $pod.containers -}}
{{- if hasKey $object.spec "replicas" -}}
{{- $_ := set $object.spec "replicas" $values.replicas -}}
{{- end -}}
{{- $image := $root.Values.image -}}
{{- $_ := set $container "image" (printf "%s:%s" $image.repository ($image.tag | default $root.Chart.AppVersion)) -}}
{{- $_ := set $container "imagePullPolicy" $image.pullPolicy -}}
{{- with $root.Values.imagePullSecrets -}}
{{- $_ := set $pod "imagePullSecrets" . -}}
{{- end -}}
{{- $_ := set $pod "serviceAccountName" (include "ingester.account" (list $root $pod.serviceAccountName)) -}}
{{- $secret := $values.databaseSecret | default (include "ingester.secret" $root) -}}
{{- if $root.Values.postgres.enabled -}}
{{- $from := dict "secretKeyRef" (dict "name" $secret "key" "DATABASE_URL") -}}
{{- $_ := set $container "env" (list (dict "name" "DATABASE_URL" "valueFrom" $from)) -}}
{{- else -}}
{{- range $container.env -}}
{{- if hasKey .valueFrom "secretKeyRef" -}}
{{- $_ := set .valueFrom.secretKeyRef "name" $secret -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $values.resources -}}
{{- $_ := set $container "resources" . -}}
{{- end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" -}}
{{- with get $values $key -}}
{{- $_ := set $pod $key . -}}
{{- end -}}
{{- end -}}
{{- with $values.podAnnotations -}}
{{- $_ := set $template.metadata "annotations" (merge (dict) . (get $template.metadata "annotations" | default dict)) -}}
{{- end -}}
{{- if $root.Values.kinds.file -}}
{{- $folder := "/etc/ingester-kinds" -}}
{{- $_ := set $container "args" (concat $container.args (list "--kinds" (print $folder "/kinds.yaml"))) -}}
{{- $mount := dict "name" "kinds" "mountPath" $folder "readOnly" true -}}
{{- $_ := set $container "volumeMounts" (append (get $container "volumeMounts" | default list) $mount) -}}
{{- $volume := dict "name" "kinds" "configMap" (dict "name" (include "ingester.kinds" $root)) -}}
{{- $_ := set $pod "volumes" (append (get $pod "volumes" | default list) $volume) -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{/* Refuses a file of kinds whose kinds have a CRD, which no pod has. Helm reads only the first document of a text, so they are split here. */}}
{{- define "ingester.checkKinds" -}}
{{- range $number, $text := regexSplit "(?m)^(?:---|[.]{3})(?:\\s|$)" . -1 -}}
{{- $document := fromYaml $text -}}
{{- with get $document "Error" -}}
{{- fail (printf "kinds.file: part %d, between lines `---`, cannot be read: %v" (add1 $number) .) -}}
{{- end -}}
{{- range $document.kinds -}}
{{- if get . "crd" -}}
{{- fail (printf "kinds.file: %v names a CRD, which the pods do not have: `ingester manifests --out base --kinds FILE` writes base/kinds/kinds.yaml, which needs none" .kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name of the ConfigMap with the file of kinds. Another file has another name, so that the pods are started again. */}}
{{- define "ingester.kinds" -}}
ingester-kinds-{{ print .Values.kinds.file (toJson .Values.kinds.descriptors) | sha256sum | trunc 10 }}
{{- end -}}

{{/* A role: (list ROOT FILE RULES). */}}
{{- define "ingester.role" -}}
{{- $object := include "ingester.object" (list (index . 0) (index . 1)) | fromYaml -}}
{{- with index . 2 -}}
{{- $_ := set $object "rules" . -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}
