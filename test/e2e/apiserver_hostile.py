"""Hostile clients. See apiserver_hostile.sh; LONG=1 also waits for the limits of a minute. Prints memory, descriptors and what a polite client saw meanwhile."""
import http.client
import json
import multiprocessing
import os
import random
import select
import socket
import ssl
import sys
import tempfile
import threading
import time

from apiserver_client import Server, eventually

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MOST_MEMORY_KB = 600 * 1024  # far above what is needed, far below what a leak or a queue without an end would take


class Polite(threading.Thread):
    """Reads and writes all the while, obeys 429, and must never be refused otherwise."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.stopped, self.problem = server, False, None
        self.millis, self.asked_to_wait = [], 0

    def run(self):
        try:
            client = self.server.connect(timeout=60)
            name = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "polite"}, "data": {"n": "0"}}
            assert client.call("POST", MAPS, name)[0] in (201, 409)
            number = 0
            while not self.stopped:
                number += 1
                self.one(client, number)
                time.sleep(0.005)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def one(self, client, number):
        begin = time.monotonic()
        while True:
            if number % 4:
                status, answer = client.call("GET", MAPS + "/polite")
            else:
                status, answer = client.call("PATCH", MAPS + "/polite", {"data": {"n": str(number)}}, "application/merge-patch+json")
            if status != 429:
                break
            self.asked_to_wait += 1
            time.sleep(float(client.last.getheader("Retry-After")))
        assert status == 200, (status, answer)
        self.millis.append((time.monotonic() - begin) * 1000)

    def report(self, what, server):
        assert not self.problem, f"the polite client: {self.problem}"
        taken, self.millis = sorted(self.millis), []
        rss, peak, files = server.status("VmRSS", "VmHWM")
        p99 = taken[int(len(taken) * 0.99)] if taken else 0
        p50 = taken[len(taken) // 2] if taken else 0
        print(f"ok: {what}: RSS {rss / 1024:.0f} MB (peak {peak / 1024:.0f}), {files} descriptors, polite client {len(taken)} requests, "
              f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", flush=True)
        assert peak < MOST_MEMORY_KB, f"{what}: peak memory {peak} kB"


# --- malformed messages --------------------------------------------------------------------------------------------------------

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"POST " + MAPS.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

MALFORMED = {
    "garbage": b"\x00\xff\xfe" * 50 + b"\r\n\r\n",
    "no version": b"GET /version\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "version 9": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "control characters in the target": b"GET /ver\x01sion HTTP/1.1\r\nHost: x\r\n\r\n",
    "NUL in the target": b"GET /ver\x00sion HTTP/1.1\r\nHost: x\r\n\r\n",
    "NUL in a header": b"GET /version HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
    "no host": b"GET /version HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "blank before the colon": b"GET /version HTTP/1.1\r\nHost : x\r\n\r\n",
    "folded header": b"GET /version HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "header without a name": b"GET /version HTTP/1.1\r\nHost: x\r\n: v\r\n\r\n",
    "length and chunked": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + SMUGGLED,
    "lengths in a list": HEAD + b"Content-Length: 0, 40\r\n\r\n" + SMUGGLED,
    "negative length": HEAD + b"Content-Length: -1\r\n\r\n" + SMUGGLED,
    "plus in the length": HEAD + b"Content-Length: +0\r\n\r\n" + SMUGGLED,
    "hexadecimal length": HEAD + b"Content-Length: 0x0\r\n\r\n" + SMUGGLED,
    "endless length": HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "chunked, then identity": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "unknown coding": HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + SMUGGLED,
    "chunked twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "vertical tab before chunked": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "endless chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    "negative chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + SMUGGLED,
    "chunk without its end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n" + SMUGGLED,
    "long chunk extension": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0;" + b"a" * 100_000 + b"\r\n\r\n",
    "endless trailers": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    "headers of 100 kB": b"GET /version HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 100_000 + b"\r\n\r\n",
    "20 000 headers": b"GET /version HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    "target of 20 kB": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
}


def converse(server, payload, limit=15):
    """Everything the server says to this until it closes or falls silent after an answer."""
    got = b""
    connection = server.raw(timeout=limit)
    try:
        connection.sendall(payload)
        while True:
            connection.settimeout(0.3 if got else limit)
            data = connection.recv(65536)
            if not data:
                break
            got += data
    except (TimeoutError, ssl.SSLError, ConnectionError):
        pass
    finally:
        connection.close()
    return got


def malformed(server):
    for name, payload in MALFORMED.items():
        got = converse(server, payload)
        statuses = [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]
        assert len(statuses) <= 1, f"{name}: {len(statuses)} answers: a request was smuggled in: {got[:600]}"
        assert all(400 <= status < 600 for status in statuses), f"{name}: {got[:300]}"
    for number in range(50):  # not even TLS
        plain = server.raw(tls=False, timeout=15)
        plain.sendall(random.Random(number).randbytes(random.Random(number).randrange(1, 3000)))
        plain.shutdown(socket.SHUT_WR)
        try:
            while plain.recv(65536):
                pass
        except (TimeoutError, ConnectionError):
            pass
        plain.close()


# --- objects and paths ---------------------------------------------------------------------------------------------------------


def expect(client, what, wanted, method, path, body=None, content_type=None):
    status, answer = client.call(method, path, body, content_type)
    assert status in wanted, f"{what}: {status}, want {wanted if len(wanted) < 9 else '4xx'}: {str(answer)[:300]}"


def fresh(server, *args):
    client = server.connect(timeout=30)
    try:
        expect(client, *args)
    finally:
        client.close()


def objects(server):
    client = server.connect(timeout=60)
    deep = b"[" * 100_000
    fresh(server, "deep list", (400,), "POST", MAPS, deep)
    fresh(server, "deep object", (400,), "POST", MAPS, b'{"a":' * 50_000 + b"1" + b"}" * 50_000)
    fresh(server, "deep JSON below a field", (400, 422), "POST", MAPS, b'{"metadata":{"name":"d","managedFields":' + deep)
    fresh(server, "deep patch", (400, 422), "PATCH", MAPS + "/polite", b'{"data":' * 5_000 + b"1" + b"}" * 5_000, "application/merge-patch+json")
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
    fresh(server, "a billion laughs", (400, 413, 415, 422), "POST", MAPS, laughs, "application/yaml")
    fresh(server, "bad UTF-8", (400, 422), "POST", MAPS, b'{"metadata":{"name":"\xff\xfe"}}')
    fresh(server, "cut off", (400,), "POST", MAPS, b'{"metadata":{"name":"x"')
    fresh(server, "a number", (400,), "POST", MAPS, b"42")
    fresh(server, "more than 3 MiB", (413,), "POST", PODS, b'{"x":"' + b"x" * (3 << 20) + b'"}')
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    got = converse(server, b"POST " + PODS.encode() + b" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + server.token.encode()
                   + b"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 64)
    assert b" 413 " in got[:40], f"4 MiB in chunks: {got[:200]}"
    container = {"name": "c", "image": "i", "env": [{"name": "BIG", "value": "x" * ((3 << 20) - 2000)}]}
    for number in range(8):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"big{number}"}, "spec": {"containers": [container]}}
        expect(client, "a pod of 3 MiB", (201,), "POST", PODS, pod)
    for number in range(8):
        expect(client, "its deletion", (200,), "DELETE", f"{PODS}/big{number}", {"gracePeriodSeconds": 0})
    client.close()


PATHS = [
    "/api/v1/namespaces/default/%2e%2e/secrets", "/api/v1/namespaces/../secrets", "//api/v1/secrets", "/api//v1/secrets", "/api/v1/./secrets",
    "/api/v1/namespaces/default/configmaps/..%2f..%2fsecrets", "/api/v1/namespaces/default/configmaps/%00", "/api/v1/namespaces/default/configmaps/a%2fb",
    "/api/v1/namespaces/default/configmaps/%ff%fe", "/api/v1/namespaces/default/configmaps/%zz", "/api/v1/namespaces/default/configmaps/%",
    "/api/v1/namespaces/default/configmaps/" + "a" * 5000, "/api/v1/namespaces//configmaps", "/apis/../api/v1/secrets", "/metrics/../api/v1/secrets",
    "/api/v1/configmaps?limit=x", "/api/v1/configmaps?continue=garbage", "/api/v1/configmaps?resourceVersion=abc",
    "/api/v1/configmaps?resourceVersion=99999999999999999999999", "/api/v1/configmaps?labelSelector=((((", "/api/v1/configmaps?fieldSelector=spec.x%3Dy",
    "/api/v1/configmaps?watch=true&resourceVersion=-5", "/api/v1/configmaps?watch=true&timeoutSeconds=99999999999999", "/api/v1/configmaps?resourceVersionMatch=Exact",
]


def paths(server):
    for path in PATHS:
        fresh(server, path[:80], tuple(range(400, 500)), "GET", path)
        status = converse(server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())[9:12]
        assert b"400" <= status < b"500", f"{path[:80]} without a credential: {status}"


# --- crowds --------------------------------------------------------------------------------------------------------------------


def idle(server, count):
    context = server.context()
    connections = []
    for _ in range(count):
        plain = socket.create_connection(("127.0.0.1", server.port), 30)
        connections.append(context.wrap_socket(plain, server_hostname="127.0.0.1"))
    return connections


def burst(server, connections):
    """One create on every connection at once: answered, or asked to come back."""
    head = f"Host: x\r\nAuthorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
    for number, connection in enumerate(connections):
        body = json.dumps({"metadata": {"name": f"burst-{number}"}})
        connection.sendall(f"POST {MAPS} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    made = refused = 0
    for connection in connections:
        connection.settimeout(60)
        got = b""
        while b"\r\n\r\n" not in got:
            data = connection.recv(65536)
            assert data, "a connection was closed without an answer"
            got += data
        status = int(got[9:12])
        assert status in (201, 429), got[:300]
        made += status == 201
        if status == 429:
            refused += 1
            assert b"retry-after:" in got.lower(), got[:300]
    return made, refused


def slow_heads(server, count):
    """Connections that send a byte now and then and never finish their head."""
    connections = idle(server, count)
    for connection in connections:
        connection.sendall(b"GET /version HTTP/1.1\r\nHost: ")
    return connections


def watchers(server, count, namespace, small_buffer=False):
    head = f"Host: x\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    context, opened = server.context(), []
    for _ in range(count):
        plain = socket.socket()
        if small_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(30)
        plain.connect(("127.0.0.1", server.port))
        connection = context.wrap_socket(plain, server_hostname="127.0.0.1")
        connection.sendall(f"GET /api/v1/namespaces/{namespace}/configmaps?watch=true HTTP/1.1\r\n{head}".encode())
        opened.append(connection)
    return opened


def read_until(connections, text):
    """All of them, each until it has seen the text; what they got is thrown away."""
    waiting, tails = {c.fileno(): c for c in connections}, {c.fileno(): b"" for c in connections}
    poll, end = select.poll(), time.monotonic() + 120
    for descriptor, connection in waiting.items():
        connection.setblocking(False)
        poll.register(descriptor, select.POLLIN)
    while waiting:
        assert time.monotonic() < end, f"{len(waiting)} watchers did not see {text}"
        for descriptor, _ in poll.poll(1000):
            connection = waiting.get(descriptor)
            try:
                while connection:
                    data = connection.recv(65536)
                    assert data, "a watcher that reads was disconnected"
                    tails[descriptor] = (tails[descriptor] + data)[-4096:]
                    if text in tails[descriptor]:
                        poll.unregister(descriptor)
                        del waiting[descriptor]
                        break
            except (ssl.SSLWantReadError, BlockingIOError):
                pass


def busy(server, namespace, writes, size):
    client = server.connect(timeout=60)
    for number in range(writes):
        body = {"metadata": {"name": "busy"}, "data": {"k": ("%06d" % number) * (size // 6)}}
        method, path = ("POST", "") if number == 0 else ("PUT", "/busy")
        status, answer = client.call(method, f"/api/v1/namespaces/{namespace}/configmaps{path}", body)
        assert status in (200, 201), (status, answer)
    client.close()


def flood(port, ca, seconds, counts):
    """Somebody without a credential, as fast as he can."""
    context = ssl.create_default_context(cafile=ca)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    end, count, tokens = time.monotonic() + seconds, 0, [None, "Bearer wrong", "Bearer " + "x" * 2000, "Bearer eyJhbGciOiJub25lIn0.e30."]
    while time.monotonic() < end:
        token = tokens[count % len(tokens)]
        connection.request("GET", "/api/v1/secrets", headers={"Authorization": token} if token else {})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 401, answer.status
        count += 1
    counts.put(count)


def floods(server, seconds=4):
    counts = multiprocessing.Queue()
    crowd = [multiprocessing.Process(target=flood, args=(server.port, server.directory + "/ca.pem", seconds, counts)) for _ in range(4)]
    for one in crowd:
        one.start()
    total = sum(counts.get(timeout=60) for _ in crowd)
    for one in crowd:
        one.join()
        assert one.exitcode == 0
    return total


def main():
    with tempfile.TemporaryDirectory() as top:
        server = Server(os.environ["MANGROVE"], top + "/data")
        server.start()
        admin = server.connect()
        for namespace in ("quiet", "busy"):
            assert admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})[0] == 201
        polite = Polite(server)
        polite.start()
        eventually("the polite client is served", lambda: len(polite.millis) > 10 or polite.problem)
        before = server.status("VmRSS")
        polite.report("at the beginning", server)

        slow = slow_heads(server, 100)
        mute = [server.raw(tls=False) for _ in range(100)]  # never begin TLS
        silent = watchers(server, 100, "busy", small_buffer=True)  # never read
        malformed(server)
        polite.report(f"{len(MALFORMED)} malformed requests and 50 that are not TLS", server)
        objects(server)
        polite.report("objects of 3 MiB, deep JSON, too large bodies", server)
        paths(server)
        polite.report(f"{len(PATHS)} tricky paths", server)
        crowd = idle(server, 1000)
        polite.report("1000 idle connections", server)
        made, refused = burst(server, crowd)
        polite.report(f"a burst of 1000 creates: {made} made, {refused} asked to wait (429 with Retry-After)", server)
        readers = watchers(server, 900, "quiet")
        busy(server, "busy", 400, 50_000)
        polite.report("1000 watchers, 100 of which never read 20 MB of events", server)
        assert admin.call("POST", "/api/v1/namespaces/quiet/configmaps", {"metadata": {"name": "last-word"}})[0] == 201
        read_until(readers, b"last-word")
        polite.report("the other 900 watchers saw everything", server)
        total = floods(server)
        polite.report(f"{total} requests without a credential", server)
        held = len(silent) + len(crowd) + len(readers) + before[1] + 20
        eventually("100 slow heads and 100 mute connections are dropped", lambda: server.status()[0] <= held, 30)
        polite.report("100 slow heads and 100 connections without a word were dropped", server)

        if os.environ.get("LONG"):  # the limit is 60 s without any progress
            eventually("the watchers that never read are disconnected", lambda: server.status()[0] <= held - len(silent), 120)
            polite.report("the 100 watchers that never read were disconnected", server)
        for connection in [*slow, *mute, *silent, *crowd, *readers]:
            connection.close()
        polite.stopped = True
        polite.join(60)
        eventually("descriptors are given back", lambda: server.status()[0] <= before[1] + 4, 60)
        eventually("memory is given back", lambda: server.status("VmRSS")[0] < 64 * 1024, 60)
        admin.close()
        polite.report("at the end", server)
        print(f"ok: descriptors {before[1]} before, {server.status()[0]} after; RSS {before[0] / 1024:.0f} MB before, "
              f"{server.status('VmRSS')[0] / 1024:.0f} MB after; the polite client was asked to wait {polite.asked_to_wait} times")
        assert server.kill(15) == 0


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, RuntimeError) as error:
        print("FAILED:", error)
        sys.exit(1)
