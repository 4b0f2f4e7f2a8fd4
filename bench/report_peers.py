#!/usr/bin/env python3
"""What reports of many nodes cost kube-apiserver and etcd, in the reference's rhythm and in ours.

    MANGROVE=build/release/bin/mangrove bench/report_peers.py [FLAGS of mangrove bench reports]

Exit code 77: something is missing.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from beside import Plane  # noqa: E402


def main():
    with Plane(os.environ["MANGROVE"]) as plane:
        pids = ",".join(str(plane.parts[name].pid) for name in ("kube-apiserver", "etcd"))
        return subprocess.call([plane.mangrove, "bench", "reports", "--kubeconfig", plane.kubeconfig, "--server-pid", pids] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
