#!/usr/bin/env bash
# `mangrove demo`, interrupted at random moments: nothing of it is left. Then once to its end: table, sentence, page.
# MOMENTS (default 4): how often; SEED: of the moments.
set -uo pipefail
mangrove=${MANGROVE:?the path of the mangrove binary}
name=$(basename "$0" .sh)
skip() { echo "$name: skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "running pods needs root"
[ -d /sys/fs/cgroup ] || skip "this machine has no cgroups"
dir=$(mktemp -d /tmp/demo.XXXXXX)
export TMPDIR=$dir no_proxy="*" NO_PROXY="*"
failures=0
fail() { echo "$name: $*"; failures=$((failures + 1)); }
trap 'rm -rf "$dir"' EXIT
RANDOM=${SEED:-$$}

left_behind() {  # left_behind PID: of the demo with that process number
  find /sys/fs/cgroup -type d -name "mangrove-demo-$1" 2>/dev/null
  grep "$dir/mangrove-demo-" /proc/mounts
  pgrep -af "$dir/mangrove-demo-" || true
  ls -d "$dir"/mangrove-demo-* 2>/dev/null
  ip link show "mgd$1" 2>/dev/null
}
check_clean() {  # check_clean PID WHEN
  local left
  left=$(left_behind "$1")
  [ -z "$left" ] || fail "interrupted $2, left behind: $left"
}

for i in $(seq "${MOMENTS:-4}"); do
  signal=$([ $((i % 2)) -eq 0 ] && echo TERM || echo INT)
  wait_ms=$((RANDOM % 12000))
  setsid "$mangrove" demo --rounds 2 --seconds 1s --report "" >"$dir/out" 2>&1 &
  pid=$!
  sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
  kill "-$signal" "$pid" 2>/dev/null
  sleep 0.05; kill "-$signal" "$pid" 2>/dev/null  # make and the terminal both send one
  wait "$pid"; code=$?
  [ "$code" -eq 130 ] || grep -q "batch got" "$dir/out" || { fail "ended with $code after $wait_ms ms"; tail -5 "$dir/out"; }
  check_clean "$pid" "after $wait_ms ms by SIG$signal"
done

"$mangrove" demo --rounds 2 --seconds 800ms --report "$dir/report.html" --json "$dir/figures.json" >"$dir/out" 2>&1 &
pid=$!
wait "$pid" || { fail "did not end well"; tail -5 "$dir/out"; }
check_clean "$pid" "never"
for text in "dashboard" "fixed beforehand" "batch under Mangrove" "batch as a BestEffort pod" "plain Kubernetes" "batch got" "report "; do
  grep -q "$text" "$dir/out" || fail "no '$text' in the output"
done
grep -q "<svg" "$dir/report.html" || fail "no plot in the page"
grep -qE "(src|href)=" "$dir/report.html" && fail "the page asks for something from elsewhere"
python3 - "$dir/figures.json" <<'P' || fail "the figures are not what was asked for"
import json, sys
f = json.load(open(sys.argv[1]))
assert len(f["rows"]) == 5 and len(f["blocks"]) == 10, len(f["blocks"])
assert all(b["failed"] == 0 and b["requests"] > 0 for b in f["blocks"])
for word in ("careless", "plain", "mangrove"):
    assert any(b["batchCores"] > 0 for b in f["blocks"] if b["condition"] == word), word
P
[ "$failures" -eq 0 ] && echo "$name: ok"
exit $((failures > 0))
