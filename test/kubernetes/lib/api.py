"""A Kubernetes API by plain HTTPS: enough for tests, many times cheaper than a kubectl per question.

    api = Api(port, token)
    pod = api.get("/api/v1/namespaces/default/pods/a")          # KeyError when there is none
    api.create("/api/v1/namespaces/default/pods", {...})         # Refused with the server's sentence
One connection per thread is kept and opened anew when the server was restarted.
"""
import http.client
import json
import socket
import ssl
import threading


class Refused(ValueError):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Api:
    def __init__(self, port, token, timeout=30, tls=None):
        self.port, self.token, self.timeout = port, token, timeout
        self.tls = tls or ssl._create_unverified_context()
        self.local = threading.local()

    def _connection(self):
        found = getattr(self.local, "connection", None)
        if found is None:
            found = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=self.timeout, context=self.tls)
            found.connect()
            found.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.local.connection = found
        return found

    def _once(self, verb, path, body, kind):
        headers = {"Accept": "application/json", "Content-Type": kind}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        try:
            connection = self._connection()
            connection.request(verb, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            if getattr(self.local, "connection", None):
                self.local.connection.close()
            self.local.connection = None
            raise

    def call(self, verb, path, body=None, kind="application/json"):
        text = None if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        try:
            try:
                code, raw = self._once(verb, path, text, kind)
            except http.client.RemoteDisconnected:  # the server had closed a connection that was idle
                if verb == "POST":
                    raise
                code, raw = self._once(verb, path, text, kind)
        except http.client.HTTPException as error:
            raise OSError(repr(error)) from error
        try:
            value = json.loads(raw) if raw[:1] in (b"{", b"[") else raw.decode(errors="replace")
        except ValueError:
            value = raw.decode(errors="replace")
        if code == 404:
            raise KeyError(f"{path}: not found")
        if code >= 400:
            raise Refused(code, value.get("message", "") if isinstance(value, dict) else value)
        return value

    def get(self, path):
        return self.call("GET", path)

    def items(self, path):
        return self.get(path).get("items") or []

    def create(self, path, body):
        return self.call("POST", path, body)

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def apply(self, path, body):
        return self.call("PATCH", path + "?fieldManager=test&force=true", body, "application/apply-patch+yaml")

    def delete(self, path, grace=None):
        try:
            return self.call("DELETE", path, None if grace is None else {"gracePeriodSeconds": grace})
        except KeyError:
            return None
