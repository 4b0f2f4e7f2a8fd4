#!/usr/bin/env bash
# Fifty pods, half of them coming and going, with `kill -9` of `up` every 20 seconds: none of the steady ones is restarted, and
# no descriptor, cgroup, mount, namespace, address, zombie or process is left. MINUTES=30 is the long run.
set -uo pipefail
mangrove=${MANGROVE:?the path of the mangrove binary}
[ "$(id -u)" -eq 0 ] || { echo "up_churn: skipped: running pods needs root"; exit 77; }
command -v python3 >/dev/null || { echo "up_churn: skipped: there is no python3"; exit 77; }
exec python3 "$(dirname "$0")/up_bench.py" "$mangrove" churn --minutes "${MINUTES:-1}"
