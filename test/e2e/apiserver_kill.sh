#!/usr/bin/env bash
# kill -9 at random under load (KILLS times, default 12; the long form is KILLS=200): every acknowledged write is there, nothing
# unacknowledged is half there, revisions never go back, watches resume or get 410.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/apiserver_kill.py"
