"""Kills the API server at random under load and looks whether it kept its word. See apiserver_kill.sh."""
import http.client
import json
import os
import random
import sys
import tempfile
import threading
import time

from apiserver_client import Server

WRITERS = 4
WINDOW = 20000  # changes; more than the server remembers
PATH = "/api/v1/namespaces/default/configmaps"
BROKEN = (OSError, http.client.HTTPException)


def value_of(number):
    """Large enough to cross pages of the database; a half-written one cannot go unnoticed."""
    return {"n": str(number), "fill": ("%08x" % (number * 2654435761 % 2**32)) * (1 + number % 300), "again": str(number)}


def whole(data):
    return data == value_of(int(data["n"]))


class Ledger:
    """What was acknowledged, and what is under way: (before, after) of each key; None is 'not there'."""

    def __init__(self):
        self.acked, self.pending, self.highest, self.writes = {}, {}, 0, 0
        self.lock = threading.Lock()

    def begin(self, key, after):
        with self.lock:
            self.pending[key] = after

    def acknowledge(self, key, revision):
        with self.lock:
            self.acked[key] = self.pending.pop(key)
            self.saw(revision)
            self.writes += 1

    def refused(self, key):
        with self.lock:
            self.pending.pop(key)

    def saw(self, revision):
        self.highest = max(self.highest, revision)


def revision_of(answer):
    return int(answer.get("metadata", {}).get("resourceVersion") or 0)


class Writer(threading.Thread):
    def __init__(self, number, server, ledger, seed):
        super().__init__(daemon=True)
        self.number, self.server, self.ledger, self.rng = number, server, ledger, random.Random(seed)
        self.problem = None

    def run(self):
        try:
            client = self.server.connect()
            while True:
                self.one(client)
        except BROKEN:
            pass  # the kill
        except Exception as error:  # a surprise: told by the main thread
            self.problem = f"{type(error).__name__}: {error}"

    def one(self, client):
        key = f"w{self.number}-{self.rng.randrange(40)}"
        there = self.ledger.acked.get(key) is not None
        if key in self.ledger.pending:
            return  # its fate is read after the restart
        number = self.rng.randrange(1 << 30)
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": key}, "data": value_of(number)}
        choice = self.rng.random()
        if not there:
            self.ledger.begin(key, number)
            status, answer = client.call("POST", PATH, body)
        elif choice < 0.2:
            self.ledger.begin(key, None)
            status, answer = client.call("DELETE", f"{PATH}/{key}")
        elif choice < 0.6:
            self.ledger.begin(key, number)
            status, answer = client.call("PUT", f"{PATH}/{key}", body)
        else:
            self.ledger.begin(key, number)
            status, answer = client.call("PATCH", f"{PATH}/{key}", {"data": value_of(number)}, "application/merge-patch+json")
        if status not in (200, 201):
            raise AssertionError(f"{key}: {status} {answer}")
        self.ledger.acknowledge(key, revision_of(answer))


class Watcher(threading.Thread):
    """Follows all objects over every restart; goes on after the last revision it saw, or lists anew after a 410."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.model, self.revision = server, {}, 0
        self.resumed = self.expired = self.events = 0
        self.problem, self.stopped, self.moved = None, False, threading.Condition()

    def run(self):
        while not self.stopped and not self.problem:
            try:
                self.follow()
            except BROKEN:
                time.sleep(0.005)
            except Exception as error:
                self.problem = f"{type(error).__name__}: {error}"

    def relist(self, client):
        status, page = client.call("GET", PATH)
        assert status == 200, page
        with self.moved:
            self.model = {item["metadata"]["name"]: revision_of(item) for item in page["items"]}
            self.revision = revision_of(page)

    def follow(self):
        client = self.server.connect(timeout=2)
        anew = self.revision == 0
        if anew:
            self.relist(client)
        client.connection.request("GET", f"{PATH}?watch=true&allowWatchBookmarks=true&resourceVersion={self.revision}", headers=client.headers)
        answer = client.connection.getresponse()
        if answer.status == 410:
            self.expired += 1
            self.revision = 0
            return
        assert answer.status == 200, answer.read()
        self.resumed += not anew
        while not self.stopped:
            line = answer.readline()
            if not line:
                return
            if not line.endswith(b"\n"):
                return  # cut by the kill
            self.take(json.loads(line))

    def take(self, event):
        with self.moved:
            if event["type"] == "ERROR":
                assert event["object"]["code"] == 410, event
                self.expired += 1
                self.revision = 0
                return
            revision = revision_of(event["object"])
            assert revision >= self.revision, f"the watch went back from {self.revision} to {revision}"
            name = event["object"]["metadata"].get("name")
            if event["type"] != "BOOKMARK" and name.startswith("w"):
                known = self.model.get(name)
                assert (event["type"] == "ADDED") == (known is None), f"{event['type']} of {name}, which was {known}"
                assert whole(event["object"]["data"]), f"half an object: {name}"
                if event["type"] == "DELETED":
                    del self.model[name]
                else:
                    self.model[name] = revision
                self.events += 1
            self.revision = revision
            self.moved.notify_all()


def check_state(server, ledger):
    """After a restart: every acknowledged write is there, everything else is there whole or not at all."""
    client = server.connect()
    status, page = client.call("GET", PATH)
    assert status == 200, page
    assert revision_of(page) >= ledger.highest, f"revisions went back: {ledger.highest} was seen, now {revision_of(page)}"
    found = {}
    for item in page["items"]:
        if not item["metadata"]["name"].startswith("w"):
            continue
        assert whole(item["data"]), f"half an object: {item['metadata']['name']}"
        found[item["metadata"]["name"]] = int(item["data"]["n"])
    half = 0
    for key in set(found) | set(ledger.acked) | set(ledger.pending):
        allowed = {ledger.acked.get(key)}
        if key in ledger.pending:
            allowed.add(ledger.pending[key])
            half += found.get(key) == ledger.pending[key]
        assert found.get(key) in allowed, f"{key}: found {found.get(key)}, want one of {allowed}"
    ledger.acked, ledger.pending = dict(found), {}
    ledger.saw(revision_of(page))
    client.close()
    return half, {i["metadata"]["name"]: revision_of(i) for i in page["items"]}, revision_of(page)


def check_watcher(watcher, model, revision):
    """Nobody writes now: the watcher must come to the same picture as the list."""
    names = lambda m: {k: v for k, v in m.items() if k.startswith("w")}
    with watcher.moved:
        watcher.moved.wait_for(lambda: watcher.problem or names(watcher.model) == names(model), timeout=20)
        assert not watcher.problem, watcher.problem
        assert names(watcher.model) == names(model), f"the watcher (at {watcher.revision}) and the list (at {revision}) differ"


def lose(server, losses, rng, busy=(0.02, 0.6), early=(0, 0.15)):
    """Ends the server the hard way that often, each time after some seconds under load, now and then once more while it starts."""
    ledger = Ledger()
    server.start()
    watcher = Watcher(server)
    watcher.start()
    unanswered = twice = 0
    begin = time.monotonic()
    for number in range(losses):
        writers = [Writer(i, server, ledger, rng.random()) for i in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(rng.uniform(*busy))
        server.kill()
        for writer in writers:
            writer.join(20)
            assert not writer.problem, f"loss {number}: {writer.problem}"
        if rng.random() < 0.15:
            server.launch()
            time.sleep(rng.uniform(*early))
            server.kill()
            twice += 1
        server.start()
        half, model, revision = check_state(server, ledger)
        unanswered += half
        check_watcher(watcher, model, revision)
    watcher.stopped = True
    if ledger.highest > WINDOW:
        status, answer = server.connect().call("GET", f"{PATH}?watch=true&resourceVersion=1")
        assert status == 410 or answer.get("object", {}).get("code") == 410, (status, answer)
    code = server.kill(15)
    assert code == 0, f"SIGTERM: code {code}"
    print(f"ok: {losses} losses ({twice} more during the start), {ledger.writes} acknowledged writes all there, {unanswered} writes "
          f"durable without an answer and whole, {watcher.events} events followed over {watcher.resumed} resumptions, "
          f"{watcher.expired} of them 410, highest revision {ledger.highest}, {time.monotonic() - begin:.0f} s")


def main():
    kills = int(os.environ.get("KILLS", "12"))
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)
    print(f"{kills} kills, seed {seed}")
    with tempfile.TemporaryDirectory() as top:
        lose(Server(os.environ["MANGROVE"], top + "/data"), kills, random.Random(seed))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, RuntimeError) as error:
        print("FAILED:", error)
        sys.exit(1)
