# The agent as a process against our own API server, with twenty real pods on cgroup v2; once more with fewer descriptors than
# it would like, where the coldest files are closed and nothing is missed; and beside another program, as beside another agent.
mangrove bench agent --pods 20 --warmup 5s --duration 20s || exit 1
mangrove bench agent --pods 20 --warmup 15s --duration 15s --max-open-files 50 --further-pods 5 \
  --reference sh "--reference-args=-c,while :; do :; done" -o json >/tmp/bench.json || exit 1
cat /tmp/bench.json
value() { sed -n "s/.*\"$1\": *\([-0-9.e+]*\).*/\1/p" /tmp/bench.json | head -n 1 | cut -d. -f1; }
[ "$(value openFiles)" -le 50 ] || { echo "more than 50 files are open"; exit 1; }
[ "$(value filesClosed)" -gt 0 ] || { echo "no cold file was closed"; exit 1; }
[ "$(value cgroupVersion)" -eq 2 ] || { echo "not cgroup v2"; exit 1; }
grep -q '"reference"' /tmp/bench.json || { echo "the other program was not measured"; exit 1; }
