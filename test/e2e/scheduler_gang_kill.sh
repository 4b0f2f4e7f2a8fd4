#!/usr/bin/env bash
# Schedulers killed with -9 in the middle of binding gangs (GROUPS_OF groups of MEMBERS members, KILLS kills): every gang is whole in the
# end, no pod is bound twice, no member that has its node is deleted for the sake of its gang, no node is over-committed.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_gang_kill.py"
