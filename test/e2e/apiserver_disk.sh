#!/usr/bin/env bash
# A full disk and damaged databases: what the API server says, what goes on meanwhile, and how it recovers. The full disk needs the
# right to mount a small tmpfs; without it that part is skipped by name.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/apiserver_disk.py"
