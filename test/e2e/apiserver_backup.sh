#!/usr/bin/env bash
# A backup of a running server, taken while somebody writes; what is restored from it has everything acknowledged before.
source "$(dirname "$0")/lib/apiserver.sh"
start
for i in $(seq 20); do kubectl create configmap "before-$i" --from-literal=n="$i" >/dev/null; done
kubectl create secret generic kept --from-literal=password=hunter2 >/dev/null
(for i in $(seq 200); do kubectl create configmap "during-$i" --from-literal=n="$i" >/dev/null 2>&1 || break; done) &
writer=$!
want "bytes" "$mangrove" backup --file "$dir/copy.db" --kubeconfig "$KUBECONFIG"
kill "$writer" 2>/dev/null; wait "$writer" 2>/dev/null || true
same "600" stat -c %a "$dir/copy.db"
refused "in use by" "$mangrove" restore --file "$dir/copy.db" --data-dir "$dir/data"
kill "$server"; wait "$server" 2>/dev/null || true
mv "$dir/data" "$dir/lost"
want "is what" "$mangrove" restore --file "$dir/copy.db" --data-dir "$dir/data"
refused "is there: restore into an empty directory" "$mangrove" restore --file "$dir/copy.db" --data-dir "$dir/data"
start
for i in 1 7 20; do want "$i" kubectl get configmap "before-$i" -o 'jsonpath={.data.n}'; done
want "aHVudGVyMg==" kubectl get secret kept -o 'jsonpath={.data.password}'
same "$(cut -d, -f1 <"$dir/lost/tokens.csv")" cut -d, -f1 "$dir/data/tokens.csv"
KUBECONFIG=$dir/none refused "none" "$mangrove" backup --file "$dir/x"
# Without the right nobody gets one.
kubectl create serviceaccount poor >/dev/null
token=$(kubectl create token poor)
KUBECONFIG=$dir/poor kubectl config set-cluster c --server="https://127.0.0.1:$port" --insecure-skip-tls-verify >/dev/null
KUBECONFIG=$dir/poor kubectl config set-credentials p --token="$token" >/dev/null
KUBECONFIG=$dir/poor kubectl config set-context x --cluster=c --user=p >/dev/null
KUBECONFIG=$dir/poor kubectl config use-context x >/dev/null
refused "403" "$mangrove" backup --file "$dir/x" --kubeconfig "$dir/poor"

# The audit log: what the policy asks for, and nothing else.
kill "$server"; wait "$server" 2>/dev/null || true
cat >"$dir/policy.yaml" <<Y
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: None}
Y
rm -f "$dir/out"; mkfifo "$dir/out"
"$mangrove" apiserver --data-dir "$dir/data" --port 0 --audit-policy-file "$dir/policy.yaml" --audit-log-path "$dir/audit.log" >"$dir/out" 2>>"$dir/err" &
server=$!
read -r _ <"$dir/out"
kubectl get secret kept >/dev/null; kubectl get configmaps >/dev/null
eventually want '"resource":"secrets"' cat "$dir/audit.log"
lacks '"resource":"configmaps"' cat "$dir/audit.log"
lacks hunter2 cat "$dir/audit.log"
lacks aHVudGVyMg cat "$dir/audit.log"
want '"username":"admin"' cat "$dir/audit.log"
refused "want both" "$mangrove" apiserver --data-dir "$dir/other" --port 0 --audit-log-path "$dir/a"
all_good
