#!/usr/bin/env bash
# kill -9 at any moment: the agent learns once a second here, writes its models every three, and is killed eight times. After each
# kill the model of the node holds what it held before and no more new lessons than seconds went by: none is lost, none counts
# twice.
source "$(dirname "$0")/lib/agent.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
history=$dir/history
start

cat >"$dir/count.py" <<'PY'
# Lessons of the node, as the agent would read them: those in the checkpoint (each weighs 2^((t - reference) / 12 h)), then those
# logged since.
import datetime, json, os, sys
folder, before, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
when = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
count, updated = 0, 0
if os.path.exists(folder + "/models.json"):
    model = {m["UID"]: m for m in json.load(open(folder + "/models.json"))["models"]}["__node__"]
    updated, cpu = when(model["LastUpdated"]), model["CPU"]
    count = round(cpu["totalWeight"] / 2 ** ((updated - when(cpu["referenceTimestamp"])) / 43200))
if os.path.exists(folder + "/lessons.log"):
    lines = [l.split() for l in open(folder + "/lessons.log") if l.endswith("\n")]
    times = [int(l[0]) / 1e6 for l in lines if l[3] == "__node__"]
    if len(times) != len(set(times)): sys.exit("a lesson is in the log twice")
    count += sum(t > updated for t in times)
if count < before: sys.exit(f"{before} lessons before, {count} now: some were lost")
if count - before > seconds + 1: sys.exit(f"{count - before} new lessons in {seconds:.1f} s: some count twice")
print(count)
PY
count=0
for round in $(seq 9); do
  since=$(date +%s%N)
  start_agent --enforce=false --prediction-training-interval 1s --prediction-model-checkpoint-interval 3s
  sleep "$(python3 -c 'import random; print(round(random.uniform(4, 8), 3))')"
  if [ "$round" -lt 9 ]; then kill_agent; else stop_agent; fi
  seconds=$(python3 -c "print(($(date +%s%N) - $since) / 1e9)")
  count=$(python3 "$dir/count.py" "$dir/models" "$count" "$seconds") || { tail "$dir/err"; exit 1; }
done
[ "$count" -ge 9 ] || { echo "only $count lessons in nine lives"; tail "$dir/err"; exit 1; }
echo "$count lessons in nine lives, eight ended by kill -9: none lost, none counted twice"
