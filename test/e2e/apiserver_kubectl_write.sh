#!/usr/bin/env bash
# How stock kubectl changes things: create, apply of both kinds, diff, edit, patch, replace, labels, dry runs.
source "$(dirname "$0")/lib/apiserver.sh"
start
kubectl create ns w >/dev/null 2>&1 || kubectl apply -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"w"}}'
kubectl config set-context --current --namespace=w >/dev/null

mkdir -p "$dir/objects" "$dir/kustom"
for n in one two; do
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: dir}}\ndata: {k: v}\n' $n >"$dir/objects/$n.yaml"
done
want "configmap/two created" kubectl create -f "$dir/objects"
refused '"one" already exists' kubectl create -f "$dir/objects"
printf 'namePrefix: k-\nlabels: [{pairs: {made: kustomize}}]\nresources: [cm.yaml]\n' >"$dir/kustom/kustomization.yaml"
cp "$dir/objects/one.yaml" "$dir/kustom/cm.yaml"
want "configmap/k-one created" kubectl apply -k "$dir/kustom"
want "configmap/g-" kubectl create -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"g-"}}'

# Client-side apply: three-way merge, pruning of what is no longer in the file.
cat >"$dir/d.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, annotations: {note: one}}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      containers:
      - {name: c, image: "i:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
      - {name: side, image: "s:1"}
Y
want "deployment.apps/d created" kubectl apply -f "$dir/d.yaml"
want "deployment.apps/d unchanged" kubectl apply -f "$dir/d.yaml"
sed -i '/name: side/d; s/i:1/i:2/; s/, {name: B, value: "2"}//; s/, annotations: {note: one}//' "$dir/d.yaml"
want "+        image: i:2" bash -c "kubectl diff -f $dir/d.yaml || [ \$? -eq 1 ]"
want "deployment.apps/d configured (server dry run)" kubectl apply --dry-run=server -f "$dir/d.yaml"
same "i:1 s:1" kubectl get deploy d -o 'jsonpath={.spec.template.spec.containers[*].image}'
want "deployment.apps/d configured" kubectl apply -f "$dir/d.yaml"
same "i:2 A" kubectl get deploy d -o 'jsonpath={.spec.template.spec.containers[*].image} {.spec.template.spec.containers[0].env[*].name}'
same "" kubectl diff -f "$dir/d.yaml"
same "" kubectl get deploy d -o 'jsonpath={.metadata.annotations.note}'
want "image: i:2" kubectl apply view-last-applied -f "$dir/d.yaml"

# Server-side apply: owners, conflicts, taking over, and moving over from client-side apply.
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: "1", b: "1"}\n' >"$dir/ssa.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: "2"}\n' >"$dir/ssa2.yaml"
want "configmap/ssa serverside-applied" kubectl apply --server-side --field-manager=one -f "$dir/ssa.yaml"
refused 'conflict with "one": .data.a' kubectl apply --server-side --field-manager=two -f "$dir/ssa2.yaml"
want "configmap/ssa serverside-applied" kubectl apply --server-side --field-manager=two --force-conflicts -f "$dir/ssa2.yaml"
same '{"a":"2","b":"1"}' kubectl get cm ssa -o 'jsonpath={.data}'
want "one Apply two Apply" kubectl get cm ssa --show-managed-fields -o 'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {end}'
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\n' >"$dir/ssa.yaml"
want "serverside-applied" kubectl apply --server-side --field-manager=one -f "$dir/ssa.yaml"
same '{"a":"2"}' kubectl get cm ssa -o 'jsonpath={.data}'
want "serverside-applied" kubectl apply --server-side -f "$dir/d.yaml"
sed -i '/env/s/, env: .*\]//' "$dir/d.yaml"
want "serverside-applied" kubectl apply --server-side -f "$dir/d.yaml"
same "" kubectl get deploy d -o 'jsonpath={.spec.template.spec.containers[0].env}'

# Patches of three types, and of subresources.
want "patched" kubectl patch deploy d -p '{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"Z","value":"1"}]}]}}}}'
want "patched" kubectl patch deploy d --type merge -p '{"metadata":{"labels":{"x":"y"}}}'
want "patched" kubectl patch deploy d --type json -p '[{"op":"replace","path":"/spec/replicas","value":4}]'
want "patched (no change)" kubectl patch deploy d --type merge -p '{"metadata":{"labels":{"x":"y"}}}'
want "patched" kubectl patch deploy d --subresource=status --type merge -p '{"status":{"replicas":4,"readyReplicas":3}}'
want "patched" kubectl patch deploy d --subresource=scale --type merge -p '{"spec":{"replicas":5}}'
same "5 3 c Z" kubectl get deploy d -o 'jsonpath={.spec.replicas} {.status.readyReplicas} {.spec.template.spec.containers[0].name} {.spec.template.spec.containers[0].env[0].name}'
want "3/5" kubectl get deploy d
refused "the server rejected our request" kubectl patch cm one --type json -p '[{"op":"remove","path":"/data/none"}]'
refused "field is immutable" kubectl patch deploy d --type merge -p '{"spec":{"selector":{"matchLabels":{"app":"e"}}}}'

# Edit with an editor that is a script, replace with and without a stale version.
printf '#!/bin/sh\nsed -i "s/k: v/k: edited/" "$1"\n' >"$dir/editor"
chmod +x "$dir/editor"
want "configmap/one edited" env EDITOR="$dir/editor" kubectl edit cm one
same "edited" kubectl get cm one -o 'jsonpath={.data.k}'
printf '#!/bin/sh\nsed -i "s/name: one/name: BAD/" "$1"\n' >"$dir/editor"
refused "At least one of apiVersion, kind and name was changed" env EDITOR="$dir/editor" kubectl edit cm one
kubectl get cm two -o yaml >"$dir/two.yaml"
want "configmap/two labeled" kubectl label cm two l=1
sed -i 's/k: v/k: stale/' "$dir/two.yaml"
refused "the object has been modified; please apply your changes to the latest version" kubectl replace -f "$dir/two.yaml"
sed -i '/resourceVersion/d' "$dir/two.yaml"
want "configmap/two replaced" kubectl replace -f "$dir/two.yaml"
want "configmap/two replaced" kubectl replace --force -f "$dir/two.yaml"
refused "not found" kubectl replace -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"none"}}'

# Labels and annotations.
want "labeled" kubectl label cm one a=1 b=2
refused "already has a value" kubectl label cm one a=2
want "labeled" kubectl label cm one a=3 --overwrite
want "unlabeled" kubectl label cm one b-
want "annotated" kubectl annotate cm -l set=dir note=x
same "3" kubectl get cm one -o 'jsonpath={.metadata.labels.a}'
refused "invalid label value" kubectl label cm one 'k=b@d'

# Dry runs and field validation.
want "configmap/dry created (server dry run)" kubectl create -f - --dry-run=server <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"dry"}}'
refused "not found" kubectl get cm dry
want "uid" kubectl create -f - --dry-run=server -o yaml <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"dry"}}'
bad='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"typo","lables":{}},"data":{"a":"1"},"dta":{}}'
refused 'strict decoding error: unknown field "dta", unknown field "metadata.lables"' kubectl create -f - <<<"$bad"
want 'Warning: unknown field "dta"' kubectl create --validate=warn -f - <<<"$bad"
lacks 'Warning' kubectl replace --validate=ignore -f - <<<"$bad"
refused 'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case' kubectl create -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Bad_Name"}}'
refused 'spec.template.spec.containers: Required value' kubectl create -f - <<<'{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}}'
all_good
