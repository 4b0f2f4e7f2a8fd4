#!/usr/bin/env bash
# Without root: what is missing is said precisely; --observe-only works; cgroups that belong to the user are enough for pods.
source "$(dirname "$0")/lib/up.sh"
command -v setpriv >/dev/null || skip "there is no setpriv"
chmod 755 "$dir"
mkdir "$dir/home" "$dir/observed" "$dir/owned"
chown 65534:65534 "$dir/home" "$dir/observed" "$dir/owned"
cp "$mangrove" "$dir/mangrove"
as_nobody() { exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$dir/home" "$@"; }

# Nothing given: it says what to do about it.
(as_nobody "$dir/mangrove" up --data-dir "$dir/home" --port 0 >"$dir/refused" 2>&1); code=$?
[ "$code" -eq 1 ] || fail "up without rights ended with $code instead of 1"
want "running pods needs root, or cgroups that belong to this user (effective user is 65534)" cat "$dir/refused"
want "chown -R 65534" cat "$dir/refused"
want "ermission denied" cat "$dir/refused"
want "--observe-only" cat "$dir/refused"
(as_nobody "$dir/mangrove" run -- true >"$dir/refused" 2>&1); code=$?
[ "$code" -eq 1 ] || fail "run without a server ended with $code instead of 1"
want "mangrove up" cat "$dir/refused"

# Only looking: the machine is measured, nothing is placed on it.
as_nobody "$dir/mangrove" up --observe-only --data-dir "$dir/observed" --port 0 --node-name n1 >"$dir/out" 2>>"$dir/log" & looking=$!
want "node n1 is observed" cat "$dir/out"
export KUBECONFIG="$dir/observed/kubeconfig"
want "SchedulingDisabled" kubectl get node n1
tries=120 want "batch-cpu" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
want "updateTime" kubectl get nodemetric n1 -o yaml
kubectl run idle --image x --command -- sleep 1000 >/dev/null
want "unschedulable" kubectl get pod idle -o 'jsonpath={.status.conditions[0].message}'
kill -TERM "$looking"; wait "$looking"; code=$?
[ "$code" -eq 0 ] || fail "up --observe-only ended with $code"

# Cgroups given: pods run, with what isolation there is.
made=
for tree in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do
  [ -f "$tree/cgroup.procs" ] || continue
  [ "$tree" = /sys/fs/cgroup/ ] || [ ! -f /sys/fs/cgroup/cgroup.controllers ] || continue
  mkdir -p "$tree/$group" && chown -R 65534 "$tree/$group" && made=1
  for file in cpuset.cpus cpuset.mems; do [ -f "$tree/$group/$file" ] && cat "$tree/$file" >"$tree/$group/$file" 2>/dev/null; done
done
[ -n "$made" ] || skip "no cgroups could be made"
as_nobody "$dir/mangrove" up --data-dir "$dir/owned" --port 0 --node-name n1 --cgroup-root "$group" --without koordlet >"$dir/out" 2>>"$dir/log" & owned=$!
want "node n1 is ready" cat "$dir/out"
export KUBECONFIG="$dir/owned/kubeconfig"
pod plain 'containers: [{name: main, image: x, command: [sh, -c, "id -u; exec sleep 1000"]}]'
want "Running" state plain .status.phase
want "65534" kubectl logs plain
want "out" kubectl exec plain -- echo out
want "NoPodNetwork" kubectl get events --field-selector involvedObject.name=plain
uid=$(state plain .metadata.uid)
cgroup_dirs | grep "$uid" >/dev/null || fail "the pod has no cgroup"
kill -TERM "$owned"; wait "$owned"; code=$?
[ "$code" -eq 0 ] || fail "up as a user ended with $code"
