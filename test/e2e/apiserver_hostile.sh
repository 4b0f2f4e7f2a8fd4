#!/usr/bin/env bash
# Hostile clients against the API server: malformed everything, floods, thousands of idle connections and watchers. Memory stays
# bounded, a polite client is served meanwhile, nothing is leaked.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
ulimit -n 8192 2>/dev/null || ulimit -n "$(ulimit -Hn)"
exec python3 "$(dirname "$0")/apiserver_hostile.py"
