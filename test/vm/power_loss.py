"""A guest machine whose power is cut while its API server is written to. See power_loss."""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import apiserver_kill  # noqa: E402
from apiserver_client import Server  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Guest(Server):
    """`mangrove apiserver` in a guest, its directory on the guest's disk; kill() is the loss of power: whatever the guest had in memory,
    pages it had not written to its disk among them, is gone."""

    def __init__(self, directory, disk, kernel, initrd):
        super().__init__("", directory)
        self.disk, self.kernel, self.initrd = disk, kernel, initrd
        self.port = free_port()
        with open(directory + "/tokens.csv") as tokens:
            self.token = tokens.read().split(",")[0]

    def launch(self):
        command = ["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio", "-machine", "q35",
                   "-accel", "tcg", "-cpu", "Nehalem", "-m", "768", "-smp", "1",
                   "-drive", f"file={self.disk},if=virtio,format=raw,cache=unsafe",
                   "-nic", f"user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:{self.port}-:6443",
                   "-kernel", self.kernel, "-initrd", self.initrd,
                   "-append", "console=ttyS0 quiet panic=-1 tsc=unstable no_timer_check"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        errors="replace")

    def await_line(self):
        for line in self.process.stdout:
            self.log.write(line.encode())
            self.log.flush()
            if line.startswith("API server on"):
                return line
        raise RuntimeError("the guest ended:\n" + self.tail())


def main():
    mangrove, kernel, initrd = sys.argv[1:4]
    losses = int(os.environ.get("LOSSES", "20"))
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)
    print(f"{losses} losses of power, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as top:
        # Credentials are made here, so that both sides know them; the guest's disk begins with that directory.
        first = Server(mangrove, top + "/state")
        first.start()
        first.kill(15)
        os.mkdir(top + "/disk")
        shutil.copytree(top + "/state", top + "/disk/state")
        os.chmod(top + "/disk/state", 0o700)
        subprocess.run(["mkfs.ext4", "-q", "-d", top + "/disk", top + "/disk.img", "256M"], check=True, stdout=subprocess.DEVNULL)
        apiserver_kill.lose(Guest(top + "/state", top + "/disk.img", kernel, initrd), losses, random.Random(seed),
                            busy=(0.5, 3), early=(0, 12))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
        print("FAILED:", error)
        sys.exit(1)
