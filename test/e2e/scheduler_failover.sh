#!/usr/bin/env bash
# Two schedulers behind one lease: one decides, the other answers 503 on its pages; the leader is killed, the other one
# takes over within the lease time and goes on; a leader that is asked to stop gives the lease back at once.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/scheduler.sh"
start
trap 'code=$?; stop_schedulers; finish $code' EXIT
cat >"$dir/scheduler.yaml" <<'Y'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms, resourceName: koord-scheduler, resourceNamespace: kube-system}
profiles: [{schedulerName: koord-scheduler}]
Y
make_node n1 8
start_scheduler one --config "$dir/scheduler.yaml"
eventually want leading cat "$dir/scheduler-one"
start_scheduler two --config "$dir/scheduler.yaml"
make_pod a 1
eventually same n1 node_of a
lacks leading cat "$dir/scheduler-two"
bearer="Authorization: Bearer $(cut -d, -f1 "$dir/data/tokens.csv")"
if command -v curl >/dev/null; then
  eventually want "the instance is not leader" curl -s -H "$bearer" "$(ops_of two)/apis/v1/nodes/n1"
  same 503 curl -s -o /dev/null -w '%{http_code}' -H "$bearer" "$(ops_of two)/apis/v1/nodes/n1"
  same 200 curl -s -o /dev/null -w '%{http_code}' -H "$bearer" "$(ops_of one)/apis/v1/nodes/n1"
fi
kill -9 "${scheduler[one]}"
make_pod b 1  # while nobody leads
eventually same n1 node_of b
want leading cat "$dir/scheduler-two"
start_scheduler three --config "$dir/scheduler.yaml"
sleep 1
kill "${scheduler[two]}"
wait "${scheduler[two]}" && code=0 || code=$?
same 0 echo "$code"
eventually want leading cat "$dir/scheduler-three"
make_pod c 1
eventually same n1 node_of c
all_good
