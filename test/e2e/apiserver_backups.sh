#!/usr/bin/env bash
# Backups while three processes write as fast as they are answered (ROUNDS of them, default 4; `make test-backup` takes 100 and wants RATE=1000
# writes a second): each is restored, started and compared. Nothing that was acknowledged before the backup's revision is missing from it.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/apiserver_backups.py"
