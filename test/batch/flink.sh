#!/usr/bin/env bash
# Flink for real: examples/flink, a session cluster of `mangrove up` whose task manager is best effort. The agent wants it gone, asks it to
# save, and it stops the job with a savepoint; the next task manager goes on from there, and the counts are exact.
source "$(dirname "$0")/../e2e/lib/up.sh"
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v javac >/dev/null || skip "there is no javac"
home=${FLINK_HOME:-/opt/mangrove-batch/flink/pyflink}  # of apache-flink-libraries (PyPI), unpacked
[ -d "$home/lib" ] || skip "there is no Flink below /opt (examples/flink/flink.yaml says how it is installed)"
numbers=${NUMBERS:-60000}

up_start --feature-gates "WatermarkEvict=true,LeastLossEvict=true,CheckpointPreemption=true"
sell
marks "$quiet"
mkdir "$dir/flink" && cp -r "$root/examples/flink/." "$dir/flink"
sed -i "s#/opt/flink/pyflink#$home#g; s#\"60000\"#\"$numbers\"#" "$dir/flink/flink.yaml"
javac -cp "$home/lib/*" -d "$dir/flink/words" "$dir/flink/Words.java" && jar cfe "$dir/flink/words.jar" Words -C "$dir/flink/words" . || fail "Words does not compile"
kubectl create configmap flink --from-file="$dir/flink/conf" >/dev/null
kubectl create configmap flink-programs --from-file="$dir/flink/save" --from-file="$dir/flink/submit" --from-file="$dir/flink/words.jar" >/dev/null
kubectl apply -f "$dir/flink/flink.yaml" >/dev/null || fail "the example was refused"
rest=http://$(kubectl get service jobmanager -o 'jsonpath={.spec.clusterIP}'):8081
counted() {  # numbers that the running job has read, all in all
  curl -s -m 5 "$rest/jobs/$(curl -s -m 5 "$rest/jobs" | python3 -c 'import json, sys; print(next(j["id"] for j in json.load(sys.stdin)["jobs"] if j["status"] == "RUNNING"))' 2>/dev/null)" |
    python3 -c 'import json, sys; print(max(v["metrics"]["read-records"] for v in json.load(sys.stdin)["vertices"]))' 2>/dev/null || echo 0
}
for _ in $(seq 600); do [ "$(counted)" -ge 2000 ] && break; sleep 0.5; done
[ "$(counted)" -ge 2000 ] || { fail "the job does not get on"; kubectl get pods; kubectl logs job/words | tail -5; kubectl logs deployment/taskmanager | tail -5; exit 1; }
evict_one
tries=2400 want "1" kubectl get job words -o 'jsonpath={.status.succeeded}{.status.failed}'
kubectl logs job/words | grep '^job'
kubectl logs job/words | grep -q 'begins -s file:/files/savepoints' || fail "it did not go on from a savepoint"
want "counted word4=$((numbers / 5))" kubectl logs deployment/taskmanager
for word in 0 1 2 3 4; do
  kubectl logs deployment/taskmanager | grep "counted word$word=$((numbers / 5))\$" || { fail "word$word is miscounted"; kubectl logs deployment/taskmanager | grep counted; }
done
