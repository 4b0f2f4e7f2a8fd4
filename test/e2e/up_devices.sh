#!/usr/bin/env bash
# Pods with cards on one machine, through a stand-in for NVIDIA's library with four of them: reported, sold, given out by the scheduler,
# shown in the container and nothing else of them, and free again when the pod ends.
library=$(dirname "${MANGROVE:?the path of the mangrove binary}")/libfake_nvml.so
# Device files of cards in a /dev of this test's own: each stands for /dev/null.
if [ -z "${OWN_DEV:-}" ] && [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  exec env OWN_DEV=1 unshare -m --propagation private "$0" "$@"
fi
source "$(dirname "$0")/lib/up.sh"
[ -n "${OWN_DEV:-}" ] || skip "this machine permits no mount namespaces"
[ -f "$library" ] || skip "there is no libfake_nvml.so beside the binary"
make_dev() {
  mkdir "$dir/dev" && mount -t tmpfs -o mode=755 none "$dir/dev" || return 1
  cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty "$dir/dev/" 2>/dev/null
  mkdir -p "$dir/dev/pts" "$dir/dev/shm" && mount --bind /dev/pts "$dir/dev/pts"
  ln -s pts/ptmx "$dir/dev/ptmx"; ln -s /proc/self/fd "$dir/dev/fd"
  for file in nvidiactl nvidia-uvm nvidia0 nvidia1 nvidia2 nvidia3; do mknod -m 666 "$dir/dev/$file" c 1 3 || return 1; done
  mount --rbind "$dir/dev" /dev
}
make_dev || skip "device files cannot be made here"
# Drivers often lie on a file system of their own among the programs.
mount -t tmpfs none /usr/local/src && echo "driver is here" >/usr/local/src/driver || skip "nothing can be mounted below /usr"
leave_dev() { umount -l /dev 2>/dev/null; umount -l "$dir/dev/pts" "$dir/dev" 2>/dev/null; }
trap 'up_stop; leave_dev; finish' EXIT
mkdir "$dir/lib" && ln -s "$library" "$dir/lib/libnvidia-ml.so.1"
export LD_LIBRARY_PATH="$dir/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" FAKE_NVML_CARDS=4
up_start

# Reported by the agent, sold by the manager, whole cards under the vendor's name as well.
want '"koordinator.sh/gpu-core":"400"' kubectl get node n1 -o 'jsonpath={.status.allocatable}'
want '"nvidia.com/gpu":"4"' kubectl get node n1 -o 'jsonpath={.status.allocatable}'

# gpu_pod NAME RESOURCE AMOUNT [MORE YAML OF THE METADATA]: says what it sees of cards, and which of them it can write to.
gpu_pod() {
  kubectl apply -f - >/dev/null <<Y || fail "pod $1 was refused"
apiVersion: v1
kind: Pod
metadata: {name: $1${4:+, $4}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: x
    resources: {limits: {$2: "$3"}}
    command:
    - sh
    - -c
    - |
      env | grep _VISIBLE_ | sort
      cat /usr/local/src/driver; echo private >/usr/local/src/driver
      cd /dev && for file in nvidia*; do echo x >\$file && echo "\$file opens"; done
      exec sleep 100000
Y
}
gpu_pod half koordinator.sh/gpu 50
want "Running" state half .status.phase
card=$(kubectl get pod half -o 'jsonpath={.metadata.annotations.scheduling\.koordinator\.sh/device-allocated}' | sed -n 's/.*"minor":\([0-9]\).*/\1/p')
want "NVIDIA_VISIBLE_DEVICES=$card" kubectl logs half
want "CUDA_VISIBLE_DEVICES=GPU-fake-$card" kubectl logs half
want "nvidia$card opens" kubectl logs half
want "driver is here" kubectl logs half
grep -q "driver is here" /usr/local/src/driver || fail "a pod wrote to a file system of the machine"
for other in 0 1 2 3; do
  [ "$other" = "$card" ] || ! kubectl logs half | grep -q "nvidia$other" || fail "half sees card $other, which it was not given"
done

# The rest: three whole cards under the vendor's name, another half, and nothing more.
gpu_pod three nvidia.com/gpu 3
want "Running" state three .status.phase
want "nvidiactl opens" kubectl logs three
gpu_pod second koordinator.sh/gpu 50
want "Running" state second .status.phase
want "NVIDIA_VISIBLE_DEVICES=$card" kubectl logs second
gpu_pod late koordinator.sh/gpu 100
want "Insufficient" kubectl get pod late -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'
for holder in half second three; do want "default/$holder" "$mangrove" top --by device --once --kubeconfig "$KUBECONFIG"; done
want "have room" "$mangrove" explain pod late --kubeconfig "$KUBECONFIG"

# What a pod had is free when it has ended.
kubectl delete pod three --wait=false >/dev/null
want "Running" state late .status.phase

# A share that HAMi-core is to hold waits for a node that says it has it, and there for the library itself.
gpu_pod held koordinator.sh/gpu 30 "labels: {koordinator.sh/gpu-isolation-provider: HAMi-core}"
want "isolation provider" kubectl get pod held -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'
kubectl label node n1 koordinator.sh/gpu-isolation-provider=HAMi-core >/dev/null
if [ -e /usr/local/vgpu/libvgpu.so ]; then
  want "Running" state held .status.phase
else
  want "libvgpu.so is not there" kubectl describe pod held
fi
exit 0
