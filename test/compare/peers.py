"""Starts the two servers that are compared, and talks to them. Nothing but the standard library.

    with Mangrove(binary) as ours, KubeApiserver(binary, etcd) as theirs:
        status, headers, body = ours.request("GET", "/version")
"""

import http.client
import json
import os
import pathlib
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile

CONTROL_PLANE = pathlib.Path(__file__).resolve().parent.parent / "kubernetes" / "lib" / "control_plane.sh"


class Peer:
    """One API server on loopback, reached with a bearer token; its certificate is not looked at."""

    name = "?"

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="compare-")
        self.processes = []
        self.port = None
        self.token = None
        self.connection = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def spawn(self, *command, **options):
        log = open(os.path.join(self.dir, os.path.basename(command[0]) + ".log"), "w")
        process = subprocess.Popen(command, stderr=log, cwd=self.dir, **options)
        self.processes.append(process)
        return process

    def connect(self, timeout=30):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=timeout)

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        sent = {"Authorization": "Bearer " + self.token, "User-Agent": "compare/1"}
        if body is not None:
            sent["Content-Type"] = content_type
        sent.update(headers or {})
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        for attempt in (1, 2):  # a kept connection may have gone in the meantime
            try:
                self.connection = self.connection or self.connect()
                self.connection.request(method, path, body=data, headers=sent)
                response = self.connection.getresponse()
                return response.status, response.headers, response.read()
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                if attempt == 2:
                    raise

    def watch(self, path, seconds):
        """The events of a watch that ends by itself after `seconds`."""
        connection = self.connect(timeout=seconds + 20)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.token})
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, [json.loads(line) for line in text.splitlines() if line]


class Mangrove(Peer):
    name = "mangrove"

    def __init__(self, binary):
        super().__init__()
        self.binary = binary

    def start(self):
        process = self.spawn(self.binary, "apiserver", "--data-dir", self.dir + "/data", "--port", "0",
                             stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        found = re.search(r":(\d+),", line)
        if not found:
            raise RuntimeError("mangrove did not start: " + line)
        self.port = int(found.group(1))
        text = open(self.dir + "/data/kubeconfig").read()
        self.token = re.search(r"token: *\"?([^\"\s]+)", text).group(1)


class KubeApiserver(Peer):
    name = "kube-apiserver"

    def __init__(self, binary, etcd="etcd"):
        super().__init__()
        self.binary, self.etcd = binary, etcd
        self.token = secrets.token_hex(16)

    def start(self):
        """By the script that all tests use; a shell holds both processes and ends them with itself."""
        script = (f'source "{CONTROL_PLANE}"; control_plane_missing >&2 && exit 77; start_control_plane "$PWD/plane" >&2 || exit 1; '
                  'trap "kill -9 $kube_pid $etcd_pid" EXIT; trap "exit 0" TERM; echo "$kube_port"; while :; do sleep 60 & wait $!; done')
        env = dict(os.environ, KUBE_APISERVER=self.binary, ETCD=self.etcd, ETCD_FLAGS="--unsafe-no-fsync",
                   KUBE_FLAGS="--service-cluster-ip-range=10.96.0.0/12 --allow-privileged=true --disable-admission-plugins=ServiceAccount",
                   KUBE_TOKENS=f'{self.token},system:admin,admin,"system:masters"')
        process = self.spawn("bash", "-c", script, stdout=subprocess.PIPE, text=True, env=env)
        line = process.stdout.readline().strip()
        if not line:
            raise RuntimeError("kube-apiserver did not get ready: " + open(self.dir + "/bash.log").read()[-400:])
        self.port = int(line)
