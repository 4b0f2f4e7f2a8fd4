#!/usr/bin/env bash
# The five tasks of docs/tasks.md, with exactly the commands that stand there: a new user needs no others.
source "$(dirname "$0")/lib/up.sh"
page=$(cd "$(dirname "$0")/../../docs" && pwd)/tasks.md
mkdir "$dir/bin" && ln -s "$(realpath "$mangrove")" "$dir/bin/mangrove"
PATH="$dir/bin:$PATH"
dashboard=127.0.0.1:0
up_start

# commands N: those of the N-th task; they begin with "$ ".
commands() { awk -v n="$1" '/^## /{at = substr($2, 1, 1)} at == n && /^\$ /{print substr($0, 3)}' "$page"; }
for task in 1 2 3 4 5; do
  count=$(commands "$task" | wc -l)
  { [ "$count" -ge 1 ] && [ "$count" -le 2 ]; } || fail "task $task takes $count commands"
done
# said TASK LINE TEXT: the command of that line says TEXT, now or soon.
said() { tries=${tries:-100} want "$3" bash -c "$(commands "$1" | sed -n "$2p")"; }

while IFS= read -r line; do eval "${line%&}" >>"$dir/said" 2>&1 & done < <(commands 1)
for pod in web job; do tries=200 want Running kubectl get pod "$pod" -o 'jsonpath={.status.phase}'; done

kubectl apply -f - >/dev/null <<'Y' || fail "the pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: big, labels: {koordinator.sh/qosClass: BE}}
spec:
  priorityClassName: koord-batch
  schedulerName: koord-scheduler
  containers: [{name: c, image: x, resources: {requests: {kubernetes.io/batch-cpu: "100000"}, limits: {kubernetes.io/batch-cpu: "100000"}}}]
Y
said 2 1 "default/big waits: 0/1 nodes are available: 1 Insufficient kubernetes.io/batch-cpu"
said 2 1 "mangrove explain node NODE"
said 3 1 "best-effort pods"  # held while services wait, left free otherwise: as the machine is
bash -c "$(commands 4 | sed -n 1p)" >/dev/null || fail "the threshold was refused"
said 4 2 "cpu-suppress holds all best-effort pods together to cpu"
said 4 2 "40 % of"
bash -c "$(commands 5 | sed -n 1p)" >/dev/null || fail "the label was refused"
tries=100 want "enforcement off" mangrove explain pod default/job
bash -c "$(commands 5 | sed -n 2p)" >/dev/null || fail "switching off was refused"
tries=100 want "1 node with colocation off: n1" mangrove check cluster
want "1 node with enforcement switched off: n1" mangrove check cluster
kubectl delete pods --all --grace-period=0 --force >/dev/null 2>&1
wait $(jobs -p | grep -v "^$up_pid$") 2>/dev/null
