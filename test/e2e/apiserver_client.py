"""What the API server's whole-binary tests share: a server as a child process, and a client that knows no mercy."""
import atexit
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time


class Server:
    """`mangrove apiserver` on a free port; the port stays the same over restarts, so that clients can come back."""

    def __init__(self, mangrove, directory, extra=()):
        self.mangrove, self.directory, self.extra = mangrove, directory, list(extra)
        self.port, self.process, self.log = 0, None, open(directory + ".log", "ab")
        atexit.register(self.end)

    def end(self):
        """However the test ends, no server stays behind."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def launch(self):
        command = [self.mangrove, "apiserver", "--data-dir", self.directory, "--port", str(self.port), *self.extra]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def await_line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with code {self.process.wait()}, see {self.log.name}:\n" + self.tail())
        self.port = int(line.split(",")[0].rsplit(":", 1)[1])
        with open(self.directory + "/tokens.csv") as tokens:
            self.token = tokens.read().split(",")[0]
        return line

    def start(self):
        self.launch()
        return self.await_line()

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        code = self.process.wait()
        self.process.stdout.close()
        return code

    def tail(self):
        with open(self.log.name, errors="replace") as log:
            return log.read()[-2000:]

    def status(self, *keys):
        """Fields of the kernel's view of the process in kB, and the number of open descriptors."""
        with open(f"/proc/{self.process.pid}/status") as text:
            fields = dict(line.split(":", 1) for line in text if ":" in line)
        found = [int(fields[key].split()[0]) for key in keys]
        return found + [len(os.listdir(f"/proc/{self.process.pid}/fd"))]

    def context(self):
        return ssl.create_default_context(cafile=self.directory + "/ca.pem")

    def connect(self, timeout=10):
        return Client(self, timeout)

    def raw(self, timeout=10, tls=True):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout)
        return self.context().wrap_socket(plain, server_hostname="127.0.0.1") if tls else plain


class Client:
    """One keep-alive connection; an answer is (status, object). Broken connections raise OSError or HTTPException."""

    def __init__(self, server, timeout):
        self.headers = {"Authorization": "Bearer " + server.token, "Content-Type": "application/json"}
        self.connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=timeout, context=server.context())

    def call(self, method, path, body=None, content_type=None):
        headers = dict(self.headers)
        if content_type:
            headers["Content-Type"] = content_type
        text = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        self.connection.request(method, path, text, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        self.last = answer
        try:
            return answer.status, json.loads(data)
        except ValueError:
            return answer.status, data.decode(errors="replace")

    def close(self):
        self.connection.close()


def eventually(what, check, limit=20):
    """Asks until it is so: the last resort where no event tells."""
    end = time.monotonic() + limit
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (limit, what))
        time.sleep(0.02)
