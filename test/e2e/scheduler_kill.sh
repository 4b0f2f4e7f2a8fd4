#!/usr/bin/env bash
# Two schedulers behind one lease, killed with -9 at random while 1 000 pods come (PODS, KILLS change that): no pod is bound
# twice, no node over-committed, no CPU given to two exclusive pods, every pod scheduled in the end.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_kill.py"
