#!/usr/bin/env bash
# Spark for real: executors as best-effort pods on batch resources of `mangrove up`, by examples/spark as it is written. First pi, and a
# job alone; then one whose executors are evicted because a service takes the memory, and that ends right all the same.
source "$(dirname "$0")/../e2e/lib/up.sh"
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v java >/dev/null || skip "there is no java"
home=${SPARK_HOME:-$(ls -d /opt/*/lib/python3*/site-packages/pyspark /opt/*/*/lib/python3*/site-packages/pyspark 2>/dev/null | head -1)}
[ -d "$home/jars" ] || skip "there is no Spark below /opt (examples/spark/submit says how it is installed)"
[ -x /usr/bin/python3 ] || skip "there is no /usr/bin/python3"
export SPARK_HOME=$home BRIDGE=$bridge

up_start --feature-gates "BEMemoryEvict=true,LeastLossEvict=true"
sell
submit() {  # submit LOG PROGRAM ARGS…
  local log=$1; shift
  timeout "${SPARK_PATIENCE:-400}" "$root/examples/spark/submit" "$@" >"$log" 2>&1
}
shuffle=$root/examples/spark/shuffle.py

if [ -e "$home/examples/src/main/python/pi.py" ]; then
  submit "$dir/pi.log" "$home/examples/src/main/python/pi.py" 4 || { fail "pi ended with $?"; tail -20 "$dir/pi.log"; }
  grep "Pi is roughly 3.1" "$dir/pi.log" || fail "pi is something else"
fi

submit "$dir/quiet.log" "$shuffle" 200000 1 || { fail "the job alone ended with $?"; tail -20 "$dir/quiet.log"; exit 1; }
grep "all 100 sums are right" "$dir/quiet.log" || fail "the job alone did not say that its sums are right"

"$mangrove" report batch --kubeconfig "$KUBECONFIG" --ledger "$dir/ledger.json" --for 1h >"$dir/report" 2>&1 & report=$!
submit "$dir/storm.log" "$shuffle" "${NUMBERS:-300000}" 4 & job=$!
tries=600 want "round 1 of" cat "$dir/storm.log"
# A service takes memory while the job runs: the node is over its threshold until the service gives it back.
total=$(awk '/MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
used=$(awk '/MemTotal/ {t = $2} /MemAvailable/ {a = $2} END {print int((t - a) * 100 / t)}' /proc/meminfo)
threshold=$((used + 8)) take=$((total * 12 / 100))
kubectl patch configmap slo-controller-config -n koordinator-system --type merge -p "{\"data\":{\"resource-threshold-config\":\"{\\\"clusterStrategy\\\":{\\\"enable\\\":true,\\\"memoryEvictThresholdPercent\\\":$threshold,\\\"memoryEvictLowerPercent\\\":$((threshold - 2))}}\"}}" >/dev/null ||
  fail "the threshold was refused"
pod service "containers: [{name: c, image: x, command: [python3, -c, 'import time; b = bytearray($take << 20); b[::4096] = b\"x\" * len(b[::4096]); time.sleep(20)'], resources: {requests: {memory: ${take}Mi}}}], restartPolicy: Never"
tries=240 want "evictPodSuccess" kubectl get events -o 'jsonpath={.items[*].reason}'
kubectl get events -o 'jsonpath={range .items[?(@.reason=="evictPodSuccess")]}{.involvedObject.name}: {.message}{"\n"}{end}'
want "core seconds of work" kubectl get events -o 'jsonpath={.items[?(@.reason=="evictPodSuccess")].message}'
kubectl delete pod service --wait=false >/dev/null 2>&1
wait "$job"; rc=$?
[ "$rc" -eq 0 ] || { fail "the job that lost executors ended with $rc"; tail -20 "$dir/storm.log"; }
[ "$(grep -c "all 100 sums are right" "$dir/storm.log")" -eq 4 ] || fail "not all four rounds were right"
grep -q "decommission" "$dir/storm.log" || fail "no executor was told to move its blocks"
grep -o "Executor .* decommissioned\|Received decommission.*\|Decommission executors.*" "$dir/storm.log" | sort -u | head -5
tail -1 "$dir/storm.log"
kill "$report"; wait "$report" || { fail "mangrove report batch ended with $?"; }
cat "$dir/report"
awk '/default\/spark-/ {evicted = $6} END {exit evicted < 2}' "$dir/report" || fail "the report does not know of two evictions"
