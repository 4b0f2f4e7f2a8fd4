"""Full disks and damaged databases. See apiserver_disk.sh."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

from apiserver_client import Server, eventually

PATH = "/api/v1/namespaces/default/configmaps"


def config_map(name, size=10):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "x" * size}}


def expect(what, text, *wanted):
    for word in wanted:
        assert word in text, f"{what}: want '{word}' in: {text}"
    print(f"ok: {what}: {text.strip().splitlines()[-1][:230]}")


# --- a full disk ---------------------------------------------------------------------------------------------------------------


def fill(path, keep=0):
    """Takes what is left of the file system, but for `keep` bytes."""
    with open(path, "wb", buffering=0) as ballast:  # a buffer would be written once more when it is closed
        chunk = b"\0" * 65536
        try:
            while True:
                ballast.write(chunk)
        except OSError:
            pass
        size = max(0, ballast.tell() - keep)
    os.truncate(path, size)


def full_disk(top):
    disk = top + "/disk"
    os.mkdir(disk)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "mangrove-test", disk], capture_output=True, text=True)
    if mounted.returncode != 0:
        print("skipped: full disk: may not mount a tmpfs here:", mounted.stderr.strip())
        return
    try:
        run_full_disk(disk)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def run_full_disk(disk):
    server = Server(os.environ["MANGROVE"], disk + "/data")
    server.log.close()
    server.log = open(os.path.dirname(disk) + "/full.log", "ab")
    server.start()
    client = server.connect()
    assert client.call("POST", PATH, config_map("before"))[0] == 201
    seen = []

    def watch():
        other = server.connect(timeout=60)
        other.connection.request("GET", PATH + "?watch=true", headers=other.headers)
        answer = other.connection.getresponse()
        while line := answer.readline():
            seen.append(line)

    threading.Thread(target=watch, daemon=True).start()
    eventually("the watch begins", lambda: any(b'"before"' in line for line in seen))
    fill(disk + "/ballast")
    refused = None
    for number in range(64):
        status, answer = client.call("POST", PATH, config_map(f"full-{number}", 200_000))
        if status != 201:
            refused = (number, status, answer)
            break
    assert refused, "64 large writes on a full disk and none was refused"
    number, status, answer = refused
    assert status in (500, 503, 507), (status, answer)
    expect("full disk, the refusal", answer["message"], "disk", disk + "/data", "reads go on")
    status, page = client.call("GET", PATH)
    names = {item["metadata"]["name"] for item in page["items"]}
    assert status == 200 and "before" in names and f"full-{number}" not in names, names
    status, text = client.call("GET", "/readyz")
    assert status == 500, status
    expect("full disk, /readyz", text, "disk")
    os.unlink(disk + "/ballast")
    status, answer = client.call("POST", PATH, config_map("after"))
    assert status == 201, (status, answer)
    assert client.call("GET", "/readyz")[0] == 200
    eventually("the watch goes on", lambda: any(b'"after"' in line for line in seen))
    assert not any(f'"full-{number}"'.encode() in line for line in seen), "a refused write was shown to a watcher"
    print("ok: full disk: reads and watches went on, writes work again without a restart")
    server.kill()
    server.start()
    names = {item["metadata"]["name"] for item in server.connect().call("GET", PATH)[1]["items"]}
    assert {"before", "after"} <= names and f"full-{number}" not in names, names
    print("ok: full disk: the same after kill -9")
    server.kill(15)


# --- damaged databases ---------------------------------------------------------------------------------------------------------


def overwrite(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def flip(path, where):
    """Some bytes in the middle of the rows, not in free space."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(where)
    assert at > 0, f"no {where} in {path}"
    overwrite(path, at, bytes(b ^ 0xFF for b in data[at:at + 4]))


def set_version(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.commit()
    database.close()


def foreign(path):
    os.unlink(path)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t(x)")
    database.commit()
    database.close()


DAMAGES = [
    # name, what is done to store.db, words the refusal must have
    ("truncated file", lambda db: os.truncate(db, os.path.getsize(db) // 2 + 100), ["damaged", "backup"]),
    ("empty file", lambda db: os.truncate(db, 0), ["damaged", "empty", "backup"]),
    ("flipped bytes in an object", lambda db: flip(db, b'"data":{"k":"xxxxxxxxxx'), ["damaged", "checksum", "backup"]),
    ("flipped header", lambda db: overwrite(db, 0, b"not SQLite at all"), ["damaged", "backup"]),
    ("garbage in a page", lambda db: overwrite(db, 8192, os.urandom(4096)), ["damaged", "backup"]),
    ("a newer format", set_version, ["format 99", "run the version that wrote it"]),
    ("another program's database", foreign, ["not a store of mangrove", "another directory"]),
    ("database gone, log there", lambda db: (open(db + "-wal", "wb").write(b"x" * 5000), os.unlink(db)), ["is missing", "-wal"]),
]


def refusal(mangrove, directory):
    run = subprocess.run([mangrove, "apiserver", "--data-dir", directory, "--port", "0"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1, f"{directory}: code {run.returncode}, {run.stdout} {run.stderr}"
    assert not run.stdout, run.stdout
    return run.stderr


def damages(top, mangrove):
    server = Server(mangrove, top + "/good")
    server.start()
    client = server.connect()
    for number in range(30):
        assert client.call("POST", PATH, config_map(f"c{number}", 3000))[0] == 201
    assert server.kill(15) == 0
    for number, (name, damage, words) in enumerate(DAMAGES):
        directory = f"{top}/damaged-{number}"
        shutil.copytree(top + "/good", directory)
        damage(directory + "/store.db")
        expect(name, refusal(mangrove, directory), directory + "/store.db", *words)
    garbage_log(top, mangrove)
    with open(top + "/file", "w") as file:
        file.write("x")
    expect("not a directory", refusal(mangrove, top + "/file"), top + "/file")
    expect("below a file", refusal(mangrove, top + "/file/data"), top + "/file")
    expect("no parent directory", refusal(mangrove, top + "/no/such/place"), top + "/no/such/place")
    expect("no permission", refusal(mangrove, "/proc/mangrove-data"), "/proc/mangrove-data")


def garbage_log(top, mangrove):
    """What follows the last good frame of the log was never acknowledged: it is left out, and nothing before it is lost."""
    directory = top + "/log"
    shutil.copytree(top + "/good", directory)
    server = Server(mangrove, directory)
    server.start()
    client = server.connect()
    for number in range(5):
        assert client.call("POST", PATH, config_map(f"late{number}"))[0] == 201
    server.kill()
    with open(directory + "/store.db-wal", "ab") as log:
        log.write(os.urandom(20000))
    server.start()
    names = {item["metadata"]["name"] for item in server.connect().call("GET", PATH)[1]["items"]}
    assert {f"late{n}" for n in range(5)} | {f"c{n}" for n in range(30)} <= names, names
    server.kill(15)
    print("ok: garbage behind the log: everything acknowledged is there")


if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory() as top:
            damages(top, os.environ["MANGROVE"])
            full_disk(top)
    except (AssertionError, RuntimeError) as error:
        print("FAILED:", error)
        sys.exit(1)
