#!/usr/bin/env bash
# The example of docs/checkpoint.md as it stands there: asked by a signal it saves and says so, and goes on working.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$dir"' EXIT

awk '/<!-- example: python -->/ {take = 1; next} take && /^```python/ {on = 1; next} on && /^```/ {exit} on' "$root/docs/checkpoint.md" > "$dir/job.py"
[ -s "$dir/job.py" ] || { echo "no example in docs/checkpoint.md"; exit 1; }
cat > "$dir/kubectl" <<'K'
#!/bin/sh
echo "$*" >> said
K
chmod +x "$dir/kubectl"
cd "$dir"
KUBECTL="$dir/kubectl" POD_NAME=job-1 STEPS=1000000 python3 -W ignore job.py &
pid=$!
disown
# It must have its handler before it is asked: the signal ends programs that expect none.
for _ in $(seq 600); do
  case $(awk '/SigCgt/ {print substr($2, 14, 1)}' /proc/$pid/status) in [2367abef]) break ;; esac  # SIGUSR1 is bit 9
  sleep 0.1
done
kill -USR1 "$pid"
for _ in $(seq 600); do
  [ -s said ] && break
  sleep 0.1
done
kill -0 "$pid" || { echo "the job ended instead of saving"; exit 1; }
grep -Eq '^annotate --overwrite pod job-1 colocation.mangrove.io/checkpoint-last=20[0-9-]+T[0-9:]+Z$' said || { echo "said: $(cat said)"; exit 1; }
grep -Eq '^[0-9]+$' state || { echo "saved: $(cat state 2>&1)"; exit 1; }
echo "saved at step $(cat state), said: $(cat said)"
