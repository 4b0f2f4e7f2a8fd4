#!/usr/bin/env bash
# Two tenants on one machine whose scheduler has rules of its own: one borrows what the other leaves until the machine is full, and gives it
# back when the owner asks. Rules that cannot be read are refused, and those without effect are named.
source "$(dirname "$0")/lib/up.sh"
trap finish EXIT
rules() {  # rules FILE YAML
  printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n%s\n' "$2" >"$dir/$1"
}

rules wrong.yaml 'profils: []'
said=$("$mangrove" up --data-dir "$dir/never" --port 0 --dashboard 0 --scheduler-config "$dir/wrong.yaml" 2>&1)
[ $? -ne 0 ] || fail "up started with rules that nobody can read"
echo "$said" | grep -q "scheduler-config.*profils" || fail "up does not say what is wrong with its rules: $said"

rules rules.yaml 'clientConnection: {qps: 5}
profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: ElasticQuota, args: {reclaim: true}}]}]'
up_start --scheduler-config "$dir/rules.yaml"
grep -q "clientConnection has no effect" "$dir/log" || fail "a rate of requests was passed over in silence"

# The machine is divided evenly, in sixths that leave a little room, as on most nodes.
whole=$(kubectl get node n1 -o 'jsonpath={.status.allocatable.cpu}')
half=$((whole * 1000 / 2)) part=$((whole * 1000 * 3 / 20))
for tenant in red blue; do
  kubectl create namespace "$tenant" >/dev/null
  kubectl apply -f - >/dev/null <<Y || fail "quota $tenant was refused"
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: $tenant, namespace: $tenant}
spec: {min: {cpu: ${half}m}, max: {cpu: "$whole"}}
Y
done
pod() {  # pod TENANT NAME
  kubectl apply -f - >/dev/null <<Y || fail "pod $2 was refused"
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: x, command: [sleep, "100000"], resources: {requests: {cpu: ${part}m}}}]
Y
}
running() { kubectl get pods -n "$1" --no-headers 2>/dev/null | grep -c Running; }
wait_running() {  # wait_running TENANT COUNT
  for _ in $(seq 200); do [ "$(running "$1")" -eq "$2" ] && return 0; sleep 0.1; done
  fail "$1 has $(running "$1") pods that run, want $2"
}
for i in 1 2 3 4 5 6; do pod red "r$i"; done
wait_running red 6
want "red borrows" "$mangrove" explain quota red
for i in 1 2 3; do pod blue "b$i"; done
wait_running blue 3
wait_running red 3

# Both have what is theirs: nobody goes for one more, and it is told why.
pod blue b4
want "quota blue refuses: cpu" "$mangrove" explain pod -n blue b4
wait_running red 3
wait_running blue 3
