"""Backups of a server under load, each restored, started and compared with what was acknowledged. See apiserver_backups.sh."""
import http.client
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from apiserver_client import Server
from apiserver_kill import PATH, revision_of, value_of, whole

WRITERS = 3
KEYS = 60  # of each writer


def write_on(number, port, token, directory, seed, orders, reports):
    """A process that writes as fast as it is answered, and says what was acknowledged when it is asked."""
    server = Server.__new__(Server)
    server.port, server.token, server.directory = port, token, directory
    client, rng, there, done = server.connect(), random.Random(seed), set(), []
    while True:
        if orders.poll():
            order = orders.recv()
            reports.send(done)
            done = []
            if order == "end":
                return
            orders.recv()  # go on
        key, value = f"w{number}-{rng.randrange(KEYS)}", rng.randrange(1 << 30)
        if key in there and rng.random() < 0.2:
            status, answer = client.call("DELETE", f"{PATH}/{key}")
            there.discard(key)
            value = None
        else:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": key}, "data": value_of(value)}
            status, answer = client.call("PUT", f"{PATH}/{key}", body) if key in there else client.call("POST", PATH, body)
            there.add(key)
        if status not in (200, 201):
            raise AssertionError(f"{key}: {status} {answer}")
        done.append((key, value, revision_of(answer), time.monotonic()))


class Load:
    def __init__(self, server, seed):
        self.ends, self.history, self.writes, self.busy = [], {}, 0, 0.0
        for number in range(WRITERS):
            orders, take = multiprocessing.Pipe()
            give, reports = multiprocessing.Pipe()
            process = multiprocessing.Process(target=write_on, daemon=True, args=(
                number, server.port, server.token, server.directory, seed + number, take, give))
            process.start()
            self.ends.append((process, orders, reports))
        self.since = time.monotonic()

    def collect(self, order):
        """Everybody stops; afterwards the books are complete."""
        for _, orders, _ in self.ends:
            orders.send(order)
        for process, _, reports in self.ends:
            while not reports.poll(1):
                assert process.is_alive(), "a writer died"
            for key, *change in reports.recv():
                self.history.setdefault(key, []).append(change)
                self.writes += 1
        self.busy += time.monotonic() - self.since

    def go_on(self):
        self.since = time.monotonic()
        for _, orders, _ in self.ends:
            orders.send("go")


def restored(mangrove, folder, copy, number):
    """The list and the revision of a server that was made of the backup."""
    back = f"{folder}/back{number}"
    subprocess.run([mangrove, "restore", "--file", copy, "--data-dir", back], check=True, stdout=subprocess.DEVNULL)
    server = Server(mangrove, back)
    server.start()
    try:
        status, page = server.connect().call("GET", PATH)
        assert status == 200, page
        return page
    finally:
        server.kill(15)
        shutil.rmtree(back)


def main():
    rounds = int(os.environ.get("ROUNDS", "4"))
    rate = float(os.environ.get("RATE", "0"))
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)
    print(f"{rounds} backups, seed {seed}")
    mangrove = os.environ["MANGROVE"]
    with tempfile.TemporaryDirectory() as top:
        server = Server(mangrove, top + "/data")
        server.start()
        client = server.connect()
        load = Load(server, seed)
        for number in range(rounds):
            time.sleep(0.3)
            copy = f"{top}/copy{number}.db"
            asked, when = revision_of(client.call("GET", PATH)[1]), time.monotonic()
            said = subprocess.run([mangrove, "backup", "--file", copy, "--kubeconfig", top + "/data/kubeconfig"],
                                  check=True, capture_output=True, text=True).stdout
            load.collect("pause")
            check(load, restored(mangrove, top, copy, number), asked, when)
            os.remove(copy)
            load.go_on()
        load.collect("end")
        server.kill(15)
        speed = load.writes / load.busy
        print(f"ok: {rounds} backups under {speed:.0f} writes/s, each restored, started and equal to what was acknowledged; "
              f"{load.writes} writes")
        assert speed >= rate, f"{speed:.0f} writes/s are fewer than {rate:.0f}: the figure needs a quiet machine"


def check(load, page, asked, when):
    revision = revision_of(page)
    assert revision >= asked, f"the backup is of {revision}, and {asked} was there before it was asked for"
    found = {}
    for item in page["items"]:
        if item["metadata"]["name"].startswith("w"):
            assert whole(item["data"]), f"half an object: {item['metadata']['name']}"
            found[item["metadata"]["name"]] = (revision_of(item), int(item["data"]["n"]))
    for key, changes in load.history.items():
        want = expected(changes, revision, when)
        assert found.get(key) in want, f"{key} at {revision}, asked for at {asked}, {when:.3f}: found {found.get(key)}, want one of {want}; {changes}"
    strangers = set(found) - set(load.history)
    assert not strangers, f"nobody wrote {strangers}"


def expected(changes, revision, when):
    """What a key may be in a backup of this revision, asked for at `when`: its last write up to there. The revision of a delete nobody is
    told: it counts for sure when it was acknowledged before, or when a write that followed it is in the backup."""
    want = {None}
    for value, own, acknowledged in changes:
        if value is not None and own > revision:
            break
        if value is not None:
            want = {(own, value)}
        else:
            want = {None} if acknowledged < when else want | {None}
    return want


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, RuntimeError, OSError, http.client.HTTPException, subprocess.CalledProcessError) as error:
        print("FAILED:", error)
        sys.exit(1)
