#!/usr/bin/env bash
# A scheduler is killed with -9 at random while pods with cards come and go (SECONDS_LONG, SEED change that; 600 for a whole run): no
# card is given twice beyond what it has, none is lost, and one that becomes unhealthy is not given out again while its pods are named.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_devices_kill.py"
