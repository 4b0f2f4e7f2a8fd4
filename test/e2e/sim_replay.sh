#!/usr/bin/env bash
# Scheduler, manager and descheduler recorded while pods come and go, nodes are lost, the configuration changes and the scheduler
# and the manager are killed and started again (PODS, NODES, SECONDS_LONG change the size): every recording is replayed twice with
# identical decisions and holds no Secret. The same of the roles inside of `mangrove up`, stopped once and killed once.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/sim_replay.py"
