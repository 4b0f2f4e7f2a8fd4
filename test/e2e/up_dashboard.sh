#!/usr/bin/env bash
# The dashboard and `mangrove top` beside a running machine: pages, rows, stream, token, terminal, and a real browser where there
# is one.
source "$(dirname "$0")/lib/up.sh"
dashboard=127.0.0.1:0
up_start
url=$(dashboard_url)
[ -n "$url" ] || { fail "up did not say where the dashboard is"; exit 1; }
want '<title>Mangrove</title>' curl -fsS "$url"
want '"name":"n1"' curl -fsS "${url}api/state"
want '"liveNode":"n1"' curl -fsS "${url}api/state"
want '"t":' curl -fsS "${url}api/state"
want 'colocation-config' curl -fsS "${url}api/config"
want '"cells":[' curl -fsS "${url}api/almanac?subject=node&hours=168&step=60"
want '"coming":null' curl -fsS "${url}api/almanac?subject=node&ahead=2"
kubectl apply -f - >/dev/null <<'Y' || fail "the pods were refused"
apiVersion: v1
kind: Pod
metadata: {name: burn, labels: {koordinator.sh/qosClass: BE}}
spec:
  priorityClassName: koord-batch
  schedulerName: koord-scheduler
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x, command: [sh, -c, "while :; do :; done"]}]  # asks for nothing, so that it runs on a busy machine too
Y
want '"key":"default/burn","node":"n1","qos":"BE"' curl -fsS "${url}api/pods?node=n1"
want '"owner":' curl -fsS "${url}api/state"
# Two tenants: one uses more than its minimum, which the other leaves.
kubectl apply -f - >/dev/null <<'Y' || fail "the quotas were refused"
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: team-a, namespace: default}
spec: {min: {cpu: 10m, memory: 16Mi}, max: {cpu: "1", memory: 1Gi}}
---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: team-b, namespace: default}
spec: {min: {cpu: 100m, memory: 64Mi}, max: {cpu: "1", memory: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: tenant, labels: {quota.scheduling.koordinator.sh/name: team-a}}
spec:
  schedulerName: koord-scheduler
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x, command: [sleep, "3600"], resources: {requests: {cpu: 30m, memory: 24Mi}}}]
Y
want '"borrower":"team-a"' curl -fsS "${url}api/quotas"
want 'team-a borrows 0.02 of cpu' "$mangrove" top --once --by quota --server "${url%/}"
want 'team-b' "$mangrove" top --once --by quota --kubeconfig "$KUBECONFIG"
# A job made by hand waits for its approval: the page and the command say the same of it.
kubectl apply -f - >/dev/null <<'Y' || fail "the job was refused"
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: PodMigrationJob
metadata: {name: by-hand}
spec: {paused: true, podRef: {namespace: default, name: tenant}}
Y
want '"pod":"default/tenant","from":"n1"' curl -fsS "${url}api/migrations"
want '"state":"it waits for approval"' curl -fsS "${url}api/migrations"
want 'made by hand, and no reason was noted' curl -fsS "${url}api/migrations"
want 'made by hand, and no reason was noted' "$mangrove" explain migration by-hand --kubeconfig "$KUBECONFIG"
want 'waits for approval' "$mangrove" explain migration by-hand --kubeconfig "$KUBECONFIG"
kubectl delete podmigrationjob by-hand >/dev/null || fail "the job was not deleted"
# Two gangs: one has started, the other waits for room that is not there.
member() {  # member NAME GANG CPU
  kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {gang.scheduling.koordinator.sh/name: $2, gang.scheduling.koordinator.sh/min-available: "2"}}
spec:
  schedulerName: koord-scheduler
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x, command: [sleep, "3600"], resources: {requests: {cpu: $3, memory: 1Mi}}}]
Y
}
for number in 0 1; do
  member etl-$number etl 1m
  member train-$number train "1000"
done
want '"gang":"train"' curl -fsS "${url}api/pods"
want 'n1 n1' kubectl get pods etl-0 etl-1 -o 'jsonpath={.items[*].spec.nodeName}'
server=${url%/}
want '"enforcement":"on"' curl -fsS "${url}api/controls"
want 'node.mangrove.io/agent-address' kubectl get node n1 -o json
want 'default/burn' "$mangrove" top --once --server "$server"
want '"decisions"' "$mangrove" top -o json --server "$server"
want 'decisions:' "$mangrove" top -o yaml --server "$server"
want 'n1' "$mangrove" top --once --kubeconfig "$KUBECONFIG"
if "$mangrove" top --once --server http://127.0.0.1:9 2>"$dir/err"; then fail "top without a server succeeded"; fi
want "is 'mangrove up' running?" cat "$dir/err"

# Full screen, in terminals of two sizes.
for size in "80 24" "200 60"; do
  set -- $size
  python3 "$(dirname "$0")/lib/terminal.py" "$1" "$2" "$mangrove" top --server "$server" >"$dir/screen" || fail "top in a terminal of $size: $(cat "$dir/screen")"
  want 'mangrove top' cat "$dir/screen"
  want 'default/burn' cat "$dir/screen"
done

# Beside a manager and beside an agent: never without a token.
echo secret-of-the-test >"$dir/token"
beside() {  # beside NAME COMMAND…: its dashboard in $other
  "$mangrove" "${@:2}" --dashboard 127.0.0.1:0 2>"$dir/no-token" && fail "$1 served a dashboard without a token"
  want "name a file with --dashboard-token-file" cat "$dir/no-token"
  "$mangrove" "${@:2}" --dashboard 127.0.0.1:0 --dashboard-token-file "$dir/token" 2>"$dir/$1.log" &
  other_pid=$!
  for _ in $(seq 200); do grep -q 'dashboard on ' "$dir/$1.log" && break; sleep 0.1; done
  other=$(sed -n 's/.*dashboard on //p' "$dir/$1.log")
  [ "$(curl -s -o /dev/null -w '%{http_code}' "${other}api/state")" = 401 ] || fail "$1 told everybody"
  want '<title>Mangrove</title>' curl -fsS "$other"
  want '"name":"n1"' curl -fsS -H 'Authorization: Bearer secret-of-the-test' "${other}api/state"
  want '"key":"default/burn"' curl -fsS -H 'Authorization: Bearer secret-of-the-test' "${other}api/pods"
  want 'colocation-config' curl -fsS -H 'Authorization: Bearer secret-of-the-test' "${other}api/config"
  want 'default/burn' "$mangrove" top --once --server "${other%/}" --token-file "$dir/token"
}
export WEBHOOK_PORT=0 WEBHOOK_CERT_DIR="$dir/certs"
beside manager manager --metrics-addr 0 --health-probe-addr 0 --enable-leader-election=false --enable-webhooks=false
kill "$other_pid"; wait "$other_pid" || fail "the manager ended with $?"
beside agent agent --addr 0 --node-name n1 --enforce=false --history-dir "$dir/history" --prediction-checkpoint-filepath "$dir/checkpoints" --enable-node-metric-report=false --audit-log-dir "$dir/audit"
want '"t":' curl -fsS -H 'Authorization: Bearer secret-of-the-test' "${other}api/state"
kill "$other_pid"; wait "$other_pid" || fail "the agent ended with $?"

modules=$HOME/.cache/mangrove/node
if command -v chromium >/dev/null && [ -d "$modules/node_modules/playwright-core" ]; then
  timeout 120 node "$(dirname "$0")/../browser/dashboard.mjs" "$url" "${SCREENSHOTS:-$dir/shots}" "$modules" "$(command -v chromium)" || fail "the browser was not content"
else
  echo "skipped by name: browser (wants chromium, and playwright-core in ~/.cache/mangrove/node)"
fi
kubectl delete pods --all >/dev/null
