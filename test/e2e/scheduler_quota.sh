#!/usr/bin/env bash
# Two tenants on the embedded server with a real scheduler: one borrows what the other leaves, the owner takes it back, and
# `explain`, `check quota` and `top --by quota` say who, how much, from whom, since when and what must happen first; making exactly the
# change that is named admits the pod.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_quota.py"
