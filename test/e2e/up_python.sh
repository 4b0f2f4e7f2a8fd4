#!/usr/bin/env bash
# The unmodified Python client `kubernetes` against running containers: logs, exec and port-forward over its older WebSocket
# protocol. Needs a python3 with that module: $MANGROVE_PYTHON, the one in PATH, or ~/.cache/mangrove/python-client.
source "$(dirname "$0")/lib/up.sh"
python=
for candidate in "${MANGROVE_PYTHON:-}" python3 "$HOME/.cache/mangrove/python-client/bin/python"; do
  [ -n "$candidate" ] && "$candidate" -c 'import kubernetes' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || skip "no python3 with the module kubernetes"
up_start
pod web 'containers: [{name: main, image: x, command: [python3, -m, http.server, "8080", --bind, 127.0.0.1], workingDir: /usr/share},
  {name: talk, image: x, command: [sh, -c, "for i in 1 2 3; do echo line $i; sleep 0.2; done; exec sleep 1000"]}]'
want "Running" state web .status.phase
cat >"$dir/client.py" <<'P'
import json, select, socket, sys, time
from kubernetes import client, config
from kubernetes.stream import portforward, stream

config.load_kube_config()
api = client.CoreV1Api()
log = api.read_namespaced_pod_log("web", "default", container="talk", tail_lines=2)
assert log.splitlines() == ["line 2", "line 3"], log

out = stream(api.connect_get_namespaced_pod_exec, "web", "default", container="main",
             command=["sh", "-c", "echo out; echo err >&2"], stderr=True, stdin=False, stdout=True, tty=False)
assert "out" in out and "err" in out, out

talk = stream(api.connect_get_namespaced_pod_exec, "web", "default", container="main", command=["sh"],
              stderr=True, stdin=True, stdout=True, tty=False, _preload_content=False)
talk.write_stdin("echo $((6*7)); exit 5\n")
talk.run_forever(timeout=10)
assert talk.read_stdout().strip() == "42", "stdin was lost"
assert talk.returncode == 5, talk.returncode

forward = portforward(api.connect_get_namespaced_pod_portforward, "web", "default", ports="8080")
http = forward.socket(8080)
http.setblocking(True)
http.sendall(b"GET / HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n")
answer = b""
while True:
    select.select([http], [], [], 10)
    piece = http.recv(4096)
    if not piece:
        break
    answer += piece
assert b"Directory listing" in answer, answer
assert forward.error(8080) is None, forward.error(8080)
print("python: ok")
P
tries=1 want "python: ok" timeout 60 "$python" "$dir/client.py"
want "deleted" kubectl delete pods --all --grace-period 1
