#!/usr/bin/env bash
# Two managers; the leader is killed in the middle of a pass over 600 nodes. The other one must take over within the
# lease time and finish: every node right, no value ever wrong on the way, nothing written twice, and a change that
# comes while nobody leads is not lost.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/manager.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

nodes=600
lease=4
election="--leader-elect-lease-duration=${lease}s --leader-elect-renew-deadline=3s --leader-elect-retry-period=500ms"
start
prepare_cluster

# The cluster, written through one kubectl proxy to be quick.
kubectl proxy --port=0 >"$dir/proxy" 2>&1 &
proxy=$!
trap 'kill $proxy 2>/dev/null; stop_managers; finish' EXIT
for i in $(seq 50); do grep -q "Starting to serve" "$dir/proxy" && break; sleep 0.1; done
url=http://$(sed -n 's/.*serve on //p' "$dir/proxy")
python3 "$(dirname "$0")/manager_failover.py" seed "$url" "$nodes"

# Watches nodes and writes every amount it sees; the judge reads it at the end.
python3 "$(dirname "$0")/manager_failover.py" watch "$url" "$dir/seen" &
watcher=$!
# shellcheck disable=SC2086
start_manager one $election --rest-config-qps=150 --rest-config-burst=1
eventually want "one" bash -c "grep -q leading '$dir/manager-one' && echo one"
# shellcheck disable=SC2086
start_manager two $election
python3 "$(dirname "$0")/manager_failover.py" await "$url" 60  # a tenth of the pass
kill -9 "${manager[one]}"
killed=$(date +%s.%N)
python3 "$(dirname "$0")/manager_failover.py" change "$url"  # node-0 is reported differently while nobody leads
for i in $(seq 200); do grep -q "manager: leading" "$dir/manager-two" && break; sleep 0.1; done
took=$(python3 -c "import time; print('%.1f' % (time.time() - $killed))")
grep -q "manager: leading" "$dir/manager-two" || complain "takes over" "within the lease" "never" manager two
echo "handed over after ${took} s (lease ${lease} s)"
python3 -c "import sys; sys.exit(0 if $took <= $lease + 3 else 1)" || complain "hand-over within" "$lease s and a retry" "$took s" manager two
checks=$((checks + 1))
python3 "$(dirname "$0")/manager_failover.py" await "$url" "$nodes"
sleep 2
kill "$watcher"
wait "$watcher" 2>/dev/null || true
python3 "$(dirname "$0")/manager_failover.py" judge "$dir/seen" "$nodes" || exit 1
checks=$((checks + 1))
unset "manager[one]"
stop_manager two
all_good
