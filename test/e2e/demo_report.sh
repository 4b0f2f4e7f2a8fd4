#!/usr/bin/env bash
# `mangrove report` against a small service that gets slower while a file says so: probe, histogram and log see it, replicas
# show it, wrong calls are explained. Needs python3; no root, no cluster.
set -uo pipefail
mangrove=${MANGROVE:?the path of the mangrove binary}
name=$(basename "$0" .sh)
command -v python3 >/dev/null || { echo "$name: skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
export KUBECONFIG=$dir/none no_proxy="*" NO_PROXY="*"
failures=0 server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
fail() { echo "$name: $*"; failures=$((failures + 1)); }
want() { grep -qF -- "$1" "$2" || { fail "no '$1' in:"; cat "$2"; }; }

cat >"$dir/service.py" <<'P'
import bisect, http.server, os, socketserver, sys, threading, time
dir = sys.argv[1]
bounds = [0.002 * 1.2 ** i for i in range(24)]
counts, lock = [0] * 25, threading.Lock()
log = open(dir + "/access.log", "a", buffering=1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        if self.path == "/metrics":
            with lock: snap = list(counts)
            below, lines = 0, []
            for bound, n in zip(bounds + ["+Inf"], snap):
                below += n
                lines.append('lat_bucket{route="/",le="%s"} %d' % (bound, below))
            body = ("\n".join(lines) + "\n").encode()
        else:
            begun = time.monotonic()
            slow = self.path == "/slow" or (os.path.exists(dir + "/state") and open(dir + "/state").read().strip() == "on")
            time.sleep(0.040 if slow else 0.010)
            took = time.monotonic() - begun
            with lock: counts[bisect.bisect_left(bounds, took)] += 1
            log.write('{"path":"%s","ms":%.3f}\n' % (self.path, took * 1000))
            body = b"ok\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
P
python3 "$dir/service.py" "$dir" >"$dir/port" 2>/dev/null & server=$!
for _ in $(seq 100); do [ -s "$dir/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(cat "$dir/port")
switched=(--nodes here --command "echo \$STATE >$dir/state" --pairs 7 --window 600ms --settle 60ms --least-requests 20)
report() { "$mangrove" report "${switched[@]}" "$@"; }

report --probe "$url/" --probe-rate 200 --save "$dir/windows.csv" --html "$dir/page.html" >"$dir/probe" 2>"$dir/err" || { fail "the probe"; cat "$dir/err"; }
want "p99: slower while on" "$dir/probe"
want "p50: slower while on" "$dir/probe"
want "power:" "$dir/probe"
[ "$(wc -l <"$dir/windows.csv")" -eq 15 ] || fail "14 windows and a head were to be saved"
[ "$(cat "$dir/state")" = on ] || fail "the switch was left '$(cat "$dir/state")'"
want "<svg" "$dir/page.html"
"$mangrove" report --from "$dir/windows.csv" -o json >"$dir/again" || fail "--from"
want '"significant": true' "$dir/again"

# A load beside it, for what only looks.
(while :; do report --probe "$url/" --probe-rate 200 --pairs 1 --command true >/dev/null 2>&1 || exit; done) & load=$!
report --prometheus "$url/metrics" --histogram lat --labels 'route="/"' >"$dir/scraped" 2>"$dir/err" || { fail "the histogram"; cat "$dir/err"; }
want "p50: slower while on" "$dir/scraped"
report --log "$dir/access.log" --log-key ms >"$dir/logged" 2>"$dir/err" || { fail "the log"; cat "$dir/err"; }
want "p50: slower while on" "$dir/logged"
kill "$load" 2>/dev/null; wait "$load" 2>/dev/null

echo off >"$dir/state"
"$mangrove" report --colocated "$url/slow" --reserved "$url/" --pairs 8 --window 600ms --probe-rate 200 --least-requests 20 >"$dir/replicas" 2>"$dir/err" || { fail "replicas"; cat "$dir/err"; }
want "p50: slower while on" "$dir/replicas"

# Interrupted: the switch is put back, and what there was is told.
"$mangrove" report "${switched[@]}" --probe "$url/" --probe-rate 200 --pairs 100 >"$dir/cut" 2>"$dir/err" & pid=$!
sleep 2.5; kill -INT "$pid"; wait "$pid" || fail "an interrupted report ended badly"
[ "$(cat "$dir/state")" = on ] || fail "interrupted, the switch was left '$(cat "$dir/state")'"
want "windows:" "$dir/cut"

wrong() {  # wrong TEXT ARGS…
  local text=$1 code=0; shift
  "$mangrove" report "$@" >"$dir/said" 2>&1 || code=$?
  [ "$code" -ne 0 ] || fail "report $* was accepted"
  want "$text" "$dir/said"
}
wrong "want s, ms or us" --unit hours
wrong "go together" --colocated http://x/
wrong "want one of --prometheus, --probe and --log" --nodes a --command true
wrong "no nodes" --command true --probe "$url/"
wrong "no histogram nothing" --nodes a --command true --prometheus "$url/metrics" --histogram nothing
[ "$failures" -eq 0 ] && echo "$name: ok"
exit $((failures > 0))
