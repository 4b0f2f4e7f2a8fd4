#!/usr/bin/env bash
# YARN 3.4.2 for real: a ResourceManager on this machine, its NodeManager as a best-effort pod of `mangrove up`, and `mangrove yarn sync`
# between them. Capacity follows what is for sale (memory): down within 5 s, up within 65 s; distributed shell ends well; a registration
# that forgets, and a killed `yarn sync`, are mended.
source "$(dirname "$0")/../e2e/lib/up.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v java >/dev/null || skip "there is no java"
export YARN_HOME=${YARN_HOME:-/opt/mangrove-batch/yarn}
"$root/test/batch/fetch_yarn" || exit $?

conf=$YARN_HOME/conf-$tag
mkdir -p "$conf"
rm_pid= sync_pid=
trap 'kill $sync_pid $rm_pid 2>/dev/null; rm -rf "$conf"; finish' EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }
web=$(port)
property() { echo "<property><name>$1</name><value>$2</value></property>"; }
site() {  # site HOST: of the ResourceManager
  echo "<configuration>"
  property yarn.resourcemanager.hostname "$1"
  property yarn.resourcemanager.webapp.address "$1:$web"
  for part in address:$p1 scheduler.address:$p2 resource-tracker.address:$p3 admin.address:$p4; do
    property "yarn.resourcemanager.${part%:*}" "$1:${part##*:}"
  done
  property yarn.nodemanager.address "0.0.0.0:45454"
  property yarn.nodemanager.resource.memory-mb 512
  property yarn.nodemanager.resource.cpu-vcores 1
  property yarn.scheduler.minimum-allocation-mb 128
  property yarn.nodemanager.local-dirs /tmp/yarn/local
  property yarn.nodemanager.log-dirs /tmp/yarn/logs
  property yarn.nodemanager.vmem-check-enabled false
  property yarn.nodemanager.pmem-check-enabled false
  property yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage 99.5
  property yarn.resourcemanager.am.max-attempts 4
  property yarn.application.classpath "$conf,$YARN_HOME/lib/*"
  echo "</configuration>"
}
p1=$(port) p2=$(port) p3=$(port) p4=$(port)
printf '<configuration>%s</configuration>' "$(property fs.defaultFS file:///)" >"$conf/core-site.xml"
{ echo "<configuration>"; property yarn.scheduler.capacity.root.queues default; property yarn.scheduler.capacity.root.default.capacity 100
  property yarn.scheduler.capacity.maximum-am-resource-percent 0.9
  property yarn.scheduler.capacity.resource-calculator org.apache.hadoop.yarn.util.resource.DominantResourceCalculator
  echo "</configuration>"; } >"$conf/capacity-scheduler.xml"

up_start
want "kubernetes.io/batch-memory" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
host=$(ip -4 -o addr show dev "$bridge" | awk '{sub("/.*", "", $4); print $4; exit}')
site "$host" >"$conf/yarn-site.xml"
jvm=(java --add-opens java.base/java.lang=ALL-UNNAMED -cp "$conf:$YARN_HOME/lib/*")
HADOOP_USER_NAME=yarn "${jvm[@]}" -Xmx256m org.apache.hadoop.yarn.server.resourcemanager.ResourceManager >"$dir/rm.log" 2>&1 & rm_pid=$!
ask() { curl -s -m 5 "http://$host:$web/ws/v1/cluster/$1"; }
tries=400 want '"haState":"ACTIVE"' ask info

kubectl apply -f - >/dev/null <<Y || fail "the NodeManager was refused"
apiVersion: v1
kind: Pod
metadata:
  name: nm
  labels: {app.kubernetes.io/component: node-manager, koordinator.sh/qosClass: BE}
  annotations: {yarn.hadoop.apache.org/node-id: "nm:45454"}
spec:
  nodeName: n1
  hostname: nm
  priorityClassName: koord-batch
  terminationGracePeriodSeconds: 5
  containers:
  - name: c
    image: x
    env: [{name: USER, value: yarn}, {name: HADOOP_USER_NAME, value: yarn}]
    command: [java, --add-opens, java.base/java.lang=ALL-UNNAMED, -Xmx200m, -cp, "$conf:$YARN_HOME/lib/*", org.apache.hadoop.yarn.server.nodemanager.NodeManager]
    resources: {requests: {kubernetes.io/batch-memory: 512Mi}}
Y
tries=400 want '"state":"RUNNING"' ask nodes
id=$(ask nodes | python3 -c 'import json, sys; print(json.load(sys.stdin)["nodes"]["node"][0]["id"])')
kubectl annotate --overwrite pod nm "yarn.hadoop.apache.org/node-id=$id" >/dev/null
sync() {
  "$mangrove" yarn sync --feature-gates=YarnNodeManager=true --kubeconfig "$KUBECONFIG" --resourcemanager "http://$host:$web" --leader-elect=false \
    --metrics-bind-address 0 >>"$dir/sync.log" 2>&1 & sync_pid=$!
}
memory() { ask nodes | python3 -c 'import json, sys; n = json.load(sys.stdin)["nodes"]["node"][0]; print(n["usedMemoryMB"] + n["availMemoryMB"])'; }
sold() { kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-memory}' | python3 -c '
import sys; t = sys.stdin.read(); u = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}; print(int(t[:-2]) * u[t[-2:]] if t[-2:] in u else int(t))'; }
within() {  # within SECONDS WHAT COMMAND…
  local limit=$1 what=$2 start; shift 2
  start=$(date +%s%N)
  until "$@"; do
    [ $(($(date +%s%N) - start)) -lt $((limit * 1000000000)) ] || { fail "$what: not within $limit s (now $(memory) MB)"; return; }
    sleep 0.1
  done
  echo "$what after $((($(date +%s%N) - start) / 1000000)) ms: $(memory) MB"
}
above() { [ "$(memory)" -gt "$1" ]; }
below() { [ "$(memory)" -lt "$1" ]; }
sync
within 10 "the first capacity" above 1024
full=$(memory)

# A batch pod takes half of what is for sale: less at once. It goes: more within a minute.
half=$(($(sold) / 2 / 1048576))
pod taker "priorityClassName: koord-batch, containers: [{name: c, image: x, command: [sleep, '1000'], resources: {requests: {kubernetes.io/batch-memory: ${half}Mi}, limits: {kubernetes.io/batch-memory: ${half}Mi}}}]"
within 5 "less" below $((full * 3 / 4))
kubectl delete pod taker --now --wait=false >/dev/null
within 65 "more" above $((full * 3 / 4))

# A job of YARN's own.
HADOOP_USER_NAME=yarn timeout 240 "${jvm[@]}" org.apache.hadoop.yarn.applications.distributedshell.Client -jar "$(ls "$YARN_HOME"/lib/hadoop-yarn-applications-distributedshell-*.jar)" \
  -shell_command sleep -shell_args 5 -num_containers 2 -container_memory 128 -master_memory 256 >"$dir/shell.log" 2>&1 ||
  { fail "distributed shell ended with $?"; tail -5 "$dir/shell.log"; }
want '"state":"FINISHED"' ask apps
ask apps | grep -q '"finalStatus":"SUCCEEDED"' || fail "the application did not succeed"
want hadoop-yarn kubectl get node n1 -o 'jsonpath={.metadata.annotations.node\.koordinator\.sh/thirdPartyAllocations}'
want '"memoryMb"' kubectl get pod nm -o 'jsonpath={.metadata.annotations.colocation\.mangrove\.io/yarn-capacity}'

# Killed and gone; somebody else changes the capacity meanwhile; the successor mends it.
kill -9 "$sync_pid"; wait "$sync_pid" 2>/dev/null
curl -s -m 5 -X POST -H 'Content-Type: application/json' "http://$host:$web/ws/v1/cluster/nodes/$id/resource?user.name=yarn" -o /dev/null \
  -d '{"resource":{"memory":512,"vCores":1,"resourceInformations":{"resourceInformation":[{"name":"memory-mb","units":"Mi","value":512,"resourceType":"COUNTABLE"},{"name":"vcores","units":"","value":1,"resourceType":"COUNTABLE"}]}},"overCommitTimeout":-1}'
below 1024 || fail "the capacity was not changed by hand"
sync
within 60 "right again" above $((full * 3 / 4))
kill "$sync_pid"; wait "$sync_pid" 2>/dev/null
