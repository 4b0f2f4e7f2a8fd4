#!/bin/sh
# get_cpuset.sh POD [NAMESPACE]: which CPUs a pod of `mangrove up` may use, read off its cgroup (v1 or v2).
set -eu
pod=${1:?usage: get_cpuset.sh POD [NAMESPACE]}
set -- $(kubectl get pod "$pod" -n "${2:-default}" -o jsonpath='{.metadata.uid} {.status.qosClass} {.status.containerStatuses[0].containerID}')
case $2 in Guaranteed) at= ;; Burstable) at=/burstable ;; *) at=-besteffort ;; esac
for root in /sys/fs/cgroup /sys/fs/cgroup/cpuset; do
  group=$root/kubepods$at/pod$1/${3#*://}
  for file in cpuset.cpus.effective cpuset.effective_cpus; do
    [ ! -r "$group/$file" ] || { echo "CPU set for Pod $pod ($2 QoS): $(cat "$group/$file")"; exit 0; }
  done
done
echo "no cgroup of pod $pod found below /sys/fs/cgroup" >&2
exit 1
