"""What the scripts *_peers.py share: a control plane of kube-apiserver and etcd alone, and a process whose cost is read from /proc.

    with Plane(mangrove) as plane: …                      # plane.api, plane.kubeconfig, plane.dir; the kinds are installed
    with Measured(["koord-manager", …], log) as one: one.cpu(), one.peak_bytes()
"""
import json
import os
import signal
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + "/../test/kubernetes")
from lib.api import Refused  # noqa: E402
from lib.checks import Process  # noqa: E402
from lib.cluster import Cluster, program  # noqa: E402

ticks = os.sysconf("SC_CLK_TCK")


def skip(text):
    print("skipped: " + text)
    sys.exit(77)


class Plane(Cluster):
    def __enter__(self):
        lacking = [name for name in ("kube-apiserver", "etcd", "kubectl") if not program(name)]
        if lacking:
            skip("this machine has no " + ", ".join(lacking))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            self.start()
            if "kube-controller-manager" in self.parts:
                self.parts.pop("kube-controller-manager").kill()  # its work would be counted with nobody's
            self.install()
        except BaseException:
            self.stop()
            raise
        return self

    def account_of(self, namespace):
        """The account pods of a namespace need; nobody here makes it by himself."""
        try:
            self.api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
        except Refused as why:
            if why.code != 409:
                raise

    @property
    def kubeconfig(self):
        return self.dir + "/kubeconfig"


class Measured(Process):
    """Ended by its id when the block ends."""

    def __init__(self, command, log, env=None):
        super().__init__(os.path.basename(command[0]), command, log, env)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def cpu(self):
        """Processor seconds so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    def _bytes(self, name):
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

    def peak_bytes(self):
        return self._bytes("VmHWM")

    def bytes_now(self):
        return self._bytes("VmRSS")


def tell(rows):
    """Prints the rows, and leaves them where RESULTS says."""
    for row in rows:
        ratio = row["ours"] / row["theirs"] if row["theirs"] else 0
        print(f"{row['what']:<50}{row['ours']:>12.3f}{row['theirs']:>12.3f}  {row['peer']:<16} ours / peer's {ratio:.3f}")
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"] + "/rows.json", "w") as file:
            json.dump(rows, file, indent=1)
