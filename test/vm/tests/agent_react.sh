# Pressure by the kernel's own triggers, which root of this guest may set (windows of half a second): the sentinel sleeps until one fires, the
# group of batch work is cut, a service that its own quota throttles changes nothing, and cgroups that go away are no alarm. Times mean nothing here.
mangrove bench react --steps 6 --poll-steps 0 --floor-steps 0 --throttled-steps 4 -o json >/tmp/react.json || exit 1
cat /tmp/react.json
grep -q '"cgroupVersion": *2' /tmp/react.json || { echo "not cgroup v2"; exit 1; }
[ "$(grep -c '"mode": *"trigger"' /tmp/react.json)" -eq 2 ] || { echo "the sentinel does not sleep on triggers"; exit 1; }
for noticed in $(sed -n 's/.*"detected": *\([0-9]*\).*/\1/p' /tmp/react.json); do
  [ "$noticed" -ge 3 ] || { echo "only $noticed steps were noticed"; exit 1; }
done
