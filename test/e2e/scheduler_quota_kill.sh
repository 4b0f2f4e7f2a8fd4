#!/usr/bin/env bash
# A scheduler is killed with -9 again and again while it reclaims what was lent and revokes overuse (ROUNDS, SEED change that): nothing
# is admitted above a ceiling, no pod is evicted twice for one reason, and after the last restart everybody has what is his.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_quota_kill.py"
