#!/usr/bin/env bash
# A service that suffers, on a whole machine: it is seen, somebody is tried for it in his real cgroup, the report, `explain service`
# and the dashboard tell it, and a kill -9 in the middle of an experiment leaves no trace. The service's metrics page is a stand-in
# that is slow while the pod `hog` has all of its CPU time: who is guilty does not depend on this machine. A knob that lost its
# effect is named meanwhile. MANGROVE_LONG=1 goes on to the verdict, the step that follows (a hard cap lasts five minutes) and the end: about ten minutes.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
cpu=/sys/fs/cgroup/cpu
[ -d $cpu ] || cpu=/sys/fs/cgroup
gates=InterferencePSI=true,CausalCheck=true,MitigationLadder=true,InterferenceRules=true

# The page: 100 answers a second, 2 ms each, or 22 while nobody holds the hog and nothing says "calm".
cat >"$dir/page.py" <<'P'
import http.server, pathlib, sys, threading, time
quotas, calm = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
counts = {0.001: 0, 0.003: 0, 0.02: 0, 0.03: 0}
def held():
    try:
        file = quotas.read_text().strip()
        return bool(file) and pathlib.Path(file).read_text().split()[0] not in ("-1", "max")
    except OSError:
        return False
def serve():
    while True:
        took = 0.002 if calm.exists() or held() else 0.022
        for bound in counts: counts[bound] += 10 if took <= bound else 0
        time.sleep(0.1)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = "".join('answers_bucket{le="%s"} %d\n' % (b, n) for b, n in counts.items())
        text += 'answers_bucket{le="+Inf"} %d\n' % max(counts.values())
        self.send_response(200); self.end_headers(); self.wfile.write(text.encode())
    def log_message(self, *args): pass
threading.Thread(target=serve, daemon=True).start()
server = http.server.ThreadingHTTPServer(("", 0), Page)
print(server.server_address[1], flush=True)
server.serve_forever()
P
python3 "$dir/page.py" "$dir/hog" "$dir/calm" >"$dir/port" 2>/dev/null &
page_pid=$!
breaker_pid=
leave() { kill "$page_pid" $breaker_pid 2>/dev/null; finish; }
trap leave EXIT
touch "$dir/calm"
for _ in $(seq 100); do [ -s "$dir/port" ] && break; sleep 0.1; done

dashboard=127.0.0.1:0
up_start --keep-pods --feature-gates=$gates,IsolationCanary=true
url=$(dashboard_url)
kubectl apply -f - >/dev/null <<'Y' || fail "the policy was refused"
apiVersion: colocation.mangrove.io/v1alpha1
kind: InterferencePolicy
metadata: {name: all}
spec: {selector: {}, pairs: 6}
Y
# be NAME: a batch pod that works a quarter of the time.
be() {
  kubectl apply -f - >/dev/null <<Y || fail "pod $1 was refused"
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {koordinator.sh/qosClass: BE, app: $1}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  priorityClassName: koord-batch
  containers:
  - name: c
    image: x
    command: [python3, -c, "import time\nwhile True:\n  end = time.process_time() + 0.025\n  while time.process_time() < end: pass\n  time.sleep(0.075)"]
Y
}
kubectl apply -f - >/dev/null <<Y || fail "the service was refused"
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {koordinator.sh/qosClass: LS, app: web}
  annotations:
    colocation.mangrove.io/latency: '{"prometheus": "http://:$(cat "$dir/port")/metrics", "histogram": "answers", "promisedMs": 10}'
spec:
  nodeName: n1
  hostNetwork: true
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x, command: [sleep, "3600"], resources: {requests: {cpu: 10m}}}]
Y
be hog
[ -z "${MANGROVE_LONG:-}" ] || be decoy
want Running state web .status.phase
want Running state hog .status.phase
quota_file() {
  local uid
  uid=$(kubectl get pod "$1" -o 'jsonpath={.metadata.uid}')
  find "$cpu/$group" -path "*$uid" -type d 2>/dev/null | head -1 | sed -e "s|\$|/$(basename "$(ls "$cpu/$group"/kubepods-besteffort/cpu.cfs_quota_us 2>/dev/null || echo cpu.max)")|"
}
quota() { cut -d' ' -f1 "$(quota_file "$1")" | sed s/max/-1/; }
usual=$(quota hog)
quota_file hog >"$dir/hog"
is_held() { [ "$(quota hog)" != "$usual" ] && echo held; }
is_free() { [ "$(quota hog)" = "$usual" ] && echo free; }
reports() { kubectl get interferencereports -o json; }

# Somebody makes the quota of our canary void all the time.
python3 - "$up_pid" "$cpu" 2>/dev/null <<'P' &
import glob, pathlib, subprocess, sys, time
while True:
    mine = subprocess.run(["pgrep", "-P", sys.argv[1], "-f", "agent canary"], capture_output=True, text=True).stdout.split()
    files = [f for pid in mine for f in glob.glob(f"{sys.argv[2]}/mangrove-canary-{pid}/batch/cpu.*") if f.endswith(("cfs_quota_us", "cpu.max"))]
    until = time.monotonic() + 2
    while time.monotonic() < until:
        for file in files:
            try: pathlib.Path(file).write_text("max" if file.endswith("max") else "-1")
            except OSError: pass
        time.sleep(0.005)
P
breaker_pid=$!

tries=240
rm "$dir/calm"
began=$SECONDS
want '"victim": "default/web"' reports
[ $((SECONDS - began)) -le 60 ] || fail "seen after $((SECONDS - began)) s, want 60 at most"
want 'experiment: default/' reports
want 'default/web is slow since' "$mangrove" explain service web
want '"victim":"default/web"' curl -fsS "${url}api/interference"
want 'CPU quota has lost its effect' kubectl get events -A
kill "$breaker_pid" 2>/dev/null; breaker_pid=

if [ -n "${MANGROVE_LONG:-}" ]; then
  tries=1200
  want '"verified": "guilty"' reports
  want 'default/hog slows it down: proved once, +' "$mangrove" explain service web
  want 'L6 hard cap since' "$mangrove" explain service web
  never 'decoy slows it down' "$mangrove" explain service web
  want held is_held
  touch "$dir/calm"
  tries=2000
  want '"outcome": "Resolved"' reports
  want free is_free
  want 'default/hog' kubectl get node n1 -o 'jsonpath={.metadata.annotations.colocation\.mangrove\.io/proven-interference}'
  rm "$dir/calm"
  tries=240
fi

# Killed while the hog is held: the next agent, which may not even look, gives back what the last one took.
want held is_held
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
up_start
want free is_free
