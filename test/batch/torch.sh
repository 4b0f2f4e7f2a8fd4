#!/usr/bin/env bash
# PyTorch for real: examples/torch under torchrun as a best-effort Job of `mangrove up`. The agent wants the pod gone (a watermark that the
# machine is over), asks it to save by a signal, waits, and evicts; the Job's next pod goes on from there. The losses are those of a run that
# nobody disturbed, and no more than one interval is done twice.
source "$(dirname "$0")/../e2e/lib/up.sh"
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
torch=${TORCH_ROOT:-/opt/mangrove-batch/torch}  # Debian's python3-torch, unpacked there (dpkg -x); else the installed one
libraries=$torch/usr/lib/x86_64-linux-gnu
if [ -d "$torch/usr/lib/python3/dist-packages/torch" ]; then
  export PYTHONPATH=$torch/usr/lib/python3/dist-packages LD_LIBRARY_PATH=$libraries:$libraries/blas:$libraries/lapack:$torch/usr/lib
else
  torch=
fi
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "there is no torch for /usr/bin/python3 (python3-torch)"
steps=${STEPS:-400} interval=100
quirk="--redirects 2 --tee 2"  # torch 1.13 under Python 3.11 does not understand its own default 0
mkdir -p "$dir/alone"
OMP_NUM_THREADS=1 timeout 300 /usr/bin/python3 -W ignore -m torch.distributed.run $quirk --nproc_per_node=2 --master_port $((20000 + RANDOM % 10000)) "$root/examples/torch/train.py" \
  "$dir/alone" "$steps" "$interval" >"$dir/alone.log" 2>"$dir/alone.err" || { fail "the run alone ended with $?"; tail -5 "$dir/alone.err"; exit 1; }
libs=${LD_LIBRARY_PATH:-} packages=${PYTHONPATH:-}
unset LD_LIBRARY_PATH PYTHONPATH

up_start --feature-gates "WatermarkEvict=true,LeastLossEvict=true,CheckpointPreemption=true"
sell
marks "$quiet"
kubectl create configmap train --from-file="$root/examples/torch/train.py" >/dev/null || fail "the program was refused"
python3 - "$root/examples/torch/job.yaml" "$steps" "$interval" "$libs" "$packages" <<'P' | kubectl apply -f - >/dev/null || fail "the example was refused"
import sys
path, steps, interval, libs, packages = sys.argv[1:]
more = {"STEPS": steps, "INTERVAL": interval, "LD_LIBRARY_PATH": libs, "PYTHONPATH": packages}  # the latter for an unpacked torch
lines = "".join(f'        - {{name: {k}, value: "{v}"}}\n' for k, v in more.items() if v)
print(open(path).read().replace("        env:\n", "        env:\n" + lines))
P
want Bound kubectl get pvc train -o 'jsonpath={.status.phase}'
data=$state/volumes/$(kubectl get pvc train -o 'jsonpath={.spec.volumeName}')
said() { kubectl get pods; kubectl logs job/train | tail -3; }
done_steps() { cat "$data/log" 2>/dev/null | grep -c '^step'; }
for _ in $(seq 600); do [ "$(done_steps)" -ge 120 ] && break; sleep 0.5; done
[ "$(done_steps)" -ge 120 ] || { fail "the Job does not get on"; said; exit 1; }
evict_one
for _ in $(seq 1200); do grep -q '^done' "$data/log" && break; sleep 0.5; done
grep -q '^done' "$data/log" || { fail "the Job did not end"; said; }
want "1" kubectl get job train -o 'jsonpath={.status.succeeded}'
python3 - "$dir/alone.log" "$data/log" "$interval" <<'P' || fail "the losses are not those of the run alone"
import re, sys
def read(path):
    losses, twice, begins = {}, 0, []
    for line in open(path):
        if m := re.match(r"begins at step (\d+)", line): begins.append(int(m[1]))
        if m := re.match(r"step (\d+) loss (\S+)", line):
            twice += int(m[1]) in losses
            losses[int(m[1])] = float(m[2])
    return losses, twice, begins
alone, _, _ = read(sys.argv[1])
ours, twice, begins = read(sys.argv[2])
worst = max(abs(alone[s] - ours[s]) for s in alone)
print(f"begins {begins}, {twice} steps done twice, largest difference of a loss {worst:g}")
sys.exit(not (len(begins) > 1 and begins[-1] > 0 and set(alone) == set(ours) and worst < 1e-4 and twice <= int(sys.argv[3])))
P
