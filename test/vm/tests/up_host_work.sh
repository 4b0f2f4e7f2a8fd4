# Work outside of pods on cgroup v2: as many spinning processes as CPUs keep at least 97 % of the CPU time they have alone while as many best-effort
# pods spin beside them, without and with a service. Compared by turns, in which the pods are stopped or go on.
mkdir -p /state
export KUBECONFIG=/state/kubeconfig HOME=/root
mangrove up --data-dir /state --port 6443 --node-name vm >/tmp/up.out 2>/tmp/up.log &
up=$!
await() {  # await SECONDS TEXT COMMAND…
  left=$1 text=$2; shift 2
  while [ "$left" -gt 0 ]; do
    "$@" 2>&1 | grep -q -- "$text" && return 0
    kill -0 $up 2>/dev/null || break
    sleep 2; left=$((left - 2))
  done
  echo "FAILED: no '$text' from: $*"; "$@" 2>&1 | tail -20; tail -30 /tmp/up.log; exit 1
}
await 90 "is ready" cat /tmp/up.out
be=/sys/fs/cgroup/kubepods-besteffort
pods() { cat $be/pod*/*/cgroup.procs 2>/dev/null; }
for i in 1 2 3 4; do  # four processes each: a pod takes seconds to start in an emulated machine
  mangrove run --name batch$i --qos BE -- sh -c 'for n in 1 2 3 4; do while :; do :; done & done; wait' >/tmp/batch$i.log 2>&1 &
done
running() { [ "$(pods | wc -l)" -ge 20 ] && echo all of them; }
await 240 "all of them" running
await 60 1 cat $be/cpu.idle
await 60 max cat $be/cpu.max
mkdir -p /sys/fs/cgroup/host
spinners=
for _ in $(seq "$(nproc)"); do
  sh -c 'echo $$ >/sys/fs/cgroup/host/cgroup.procs; while :; do :; done' &
  spinners="$spinners $!"
done
used() {
  sum=0
  for pid in $spinners; do sum=$((sum + $(awk '{print $14 + $15}' /proc/$pid/stat))); done
  echo $sum
}
turn() {  # turn SIGNAL
  kill -$1 $(pods) 2>/dev/null
  sleep 1
  before=$(used)
  sleep 6
  echo $(($(used) - before))
}
compare() {
  alone=0 beside=0
  for _ in 1 2 3; do
    alone=$((alone + $(turn STOP)))
    beside=$((beside + $(turn CONT)))
  done
  echo "$1: $beside of $alone ticks"
  [ $((beside * 100)) -ge $((alone * 97)) ] || { echo "FAILED: host work kept $((beside * 100 / alone)) %"; exit 1; }
}
compare "without a service"
mangrove run --name service --qos LS --cpu 100m -- sh -c 'while :; do sleep 0.05; done' >/tmp/service.log 2>&1 &
there() { ls -d /sys/fs/cgroup/kubepods/*pod* /sys/fs/cgroup/kubepods/burstable/pod* 2>/dev/null | wc -l | grep -v '^0$'; }
await 120 "[1-9]" there
compare "with a service"
kill -9 $spinners
kill $up; wait $up
echo "up ended with $?"
