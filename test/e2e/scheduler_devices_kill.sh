#!/usr/bin/env bash
# A scheduler is killed with -9 at random while pods with cards come and go (SECONDS_LONG, SEED; make test-devices
# MINUTES=10 is the long one): no card is given beyond what it has, neither its share nor its memory, none is lost, and one that becomes
# unhealthy is not given out again while all its pods are named.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_devices_kill.py"
