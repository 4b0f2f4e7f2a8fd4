# The capability table of a cgroup v2 machine with SMT and two NUMA nodes; Debian's kernel has no core scheduling.
mangrove check node
mangrove check node -o json >/tmp/node.json || exit 1
want() { grep -q "$1" /tmp/node.json || { echo "missing: $1"; exit 1; }; }
want '"cgroupVersion": 2'
want '"numaNodes": 2'
want '"cpus": "0-15"'
present() { grep -A1 "\"$1\"" /tmp/node.json | grep -q "\"present\": $2" || { echo "$1 should be $2"; exit 1; }; }
present smt true
present numa true
present node-pressure true
present core-sched false
# Whether or not a cgroup is left below the root to see them in.
for file in cpu-idle cfs-burst memory-min memory-high memory-reclaim oom-group cgroup-kill cgroup-freeze; do
  present $file true
done
