# Data-parallel training that saves when it is asked (SIGUSR1) and every INTERVAL steps, and goes on where it was.
#   torchrun --nproc_per_node=2 train.py DIRECTORY STEPS INTERVAL
# Needs POD_NAME to say that it has saved; without it nobody is told.
import datetime, os, signal, subprocess, sys, time

import torch
import torch.distributed as dist

folder, steps, interval = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
state, wanted = os.path.join(folder, "state"), torch.zeros(1)
signal.signal(signal.SIGUSR1, lambda *_: wanted.fill_(1))
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model, step = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1)), 0
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
truth = torch.arange(8, dtype=torch.float32)
if os.path.exists(state):
    saved = torch.load(state)
    model.load_state_dict(saved["model"])
    step = saved["step"]


def save():
    torch.save({"model": model.state_dict(), "step": step}, state + ".tmp")
    os.replace(state + ".tmp", state)
    if "POD_NAME" in os.environ:
        now = datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%SZ")
        subprocess.call([os.environ.get("KUBECTL", "kubectl"), "annotate", "--overwrite", "pod", os.environ["POD_NAME"],
                         "colocation.mangrove.io/checkpoint-last=" + now], stdout=subprocess.DEVNULL)


if rank == 0:
    print(f"begins at step {step}", flush=True)
while step < steps:
    torch.manual_seed(1000 * step + rank)  # the same data for the same step, whoever runs it
    inputs = torch.randn(16, 8)
    loss = ((model(inputs).squeeze() - inputs @ truth) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    asked = wanted.clone()
    dist.all_reduce(asked)
    if rank == 0:
        print(f"step {step} loss {loss.item():.6f}", flush=True)
        if asked.item() > 0 or step % interval == 0:
            save()
    if asked.item() > 0:
        wanted.zero_()
    time.sleep(0.05)
if rank == 0:
    print("done", flush=True)
