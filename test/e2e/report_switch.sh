#!/usr/bin/env bash
# `mangrove report` switches a real node of `mangrove up` by its label: the agent lets go and holds again while the experiment
# runs, batch work is told from NodeMetric, and the label ends as it was found, also after Ctrl-C and after a label of one's own.
source "$(dirname "$0")/lib/up.sh"
dashboard=127.0.0.1:0
up_start
url=$(dashboard_url)
kubectl apply -f - >/dev/null <<'Y' || fail "the pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: burn, labels: {koordinator.sh/qosClass: BE}}
spec:
  priorityClassName: koord-batch
  schedulerName: koord-scheduler
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x, command: [sh, -c, "while :; do :; done"]}]
Y
tries=200 want Running kubectl get pod burn -o 'jsonpath={.status.phase}'
want '"usage"' kubectl get nodemetric n1 -o json
# comes_on: whether the label is seen taken away.
comes_on() { for _ in $(seq 200); do [ -z "$(label)" ] && return 0; sleep 0.05; done; return 1; }
label() { kubectl get node n1 -o 'jsonpath={.metadata.labels.node\.mangrove\.io/enforcement}'; }

switch=(report --nodes n1 --window 1500ms --settle 500ms --probe "${url}api/state" --probe-rate 100 --least-requests 20)
"$mangrove" "${switch[@]}" --pairs 7 --save "$dir/windows.csv" >"$dir/told" 2>"$dir/err" & pid=$!
# Off as the label says it, and off as the agent says it; on the same.
tries=80 want off label
tries=40 want "enforcement off" "$mangrove" explain pod default/burn
comes_on || fail "the node was never switched on again"
wait "$pid" || { fail "report ended badly"; cat "$dir/err"; }
[ -z "$(label)" ] || fail "the label was left '$(label)'"
[ "$(wc -l <"$dir/windows.csv")" -eq 15 ] || { fail "14 windows and a head were to be saved"; cat "$dir/windows.csv"; }
want "p99:" cat "$dir/told"
want "batch" cat "$dir/told"
# The agent looks at the label once a second.
acts() { for _ in $(seq 50); do "$mangrove" explain pod default/burn | grep -q "enforcement off" || return 0; sleep 0.1; done; return 1; }
acts || fail "the agent still says that enforcement is off"

# Found off, left off; and so after Ctrl-C.
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
"$mangrove" "${switch[@]}" --pairs 50 >"$dir/told" 2>"$dir/err" & pid=$!
comes_on || { fail "a node found off was never switched on"; cat "$dir/err"; }
kill -INT "$pid"; wait "$pid"
[ "$(label)" = off ] || fail "found off, left '$(label)'"
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null

"$mangrove" "${switch[@]/n1/nobody}" --pairs 1 >"$dir/told" 2>&1 && fail "a node that is not there was switched"
want 'node nobody' cat "$dir/told"
kubectl delete pod burn --grace-period=0 --force >/dev/null 2>&1
