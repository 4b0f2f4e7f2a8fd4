# Sourced by the tests of `mangrove up`: one machine with its own cgroup root, bridge and directory, and nothing of it left
# afterwards. Needs root, kubectl in PATH or in ~/.cache/mangrove/bin, and cgroups; skipped (77) otherwise.
set -uo pipefail
mangrove=${MANGROVE:?the path of the mangrove binary}
PATH="$PATH:$HOME/.cache/mangrove/bin"
name=$(basename "$0" .sh)
skip() { echo "$name: skipped: $*"; skipped=1; exit 77; }
command -v kubectl >/dev/null || skip "there is no kubectl in PATH or in ~/.cache/mangrove/bin"
[ "$(id -u)" -eq 0 ] || skip "running pods needs root"
[ -d /sys/fs/cgroup ] || skip "this machine has no cgroups"

dir=$(mktemp -d /tmp/up.XXXXXX)
tag=$(basename "$dir" | tr -cd 'a-zA-Z0-9' | tail -c 7)
group="mangrove-$tag"
bridge="mgt$tag"
subnet="10.$((100 + RANDOM % 100)).$((RANDOM % 250)).0/24"
state="$dir/state"  # a script may choose another before up_start
export KUBECONFIG="$state/kubeconfig" no_proxy="*" NO_PROXY="*"
up_pid= failures=0 skipped=

up_start() {
  "$mangrove" up --data-dir "$state" --port 0 --node-name n1 --cgroup-root "$group" --bridge "$bridge" \
    --pod-subnet "$subnet" --dashboard "${dashboard:-0}" --container-runtime-endpoint "${runtime:-none}" "$@" >"$dir/out" 2>>"$dir/log" &
  up_pid=$!
  for _ in $(seq 200); do
    grep -q "node n1 is ready" "$dir/out" && return 0
    kill -0 "$up_pid" 2>/dev/null || { cat "$dir/out" "$dir/log"; fail "up did not start"; exit 1; }
    sleep 0.1
  done
  fail "the node did not get ready"; cat "$dir/log"; exit 1
}

# dashboard_url: where up says that its dashboard is; for scripts that set `dashboard` before up_start.
dashboard_url() {
  for _ in $(seq 100); do grep -q '^dashboard on ' "$dir/out" && break; sleep 0.1; done
  sed -n 's/^dashboard on //p' "$dir/out"
}

up_stop() {
  [ -n "$up_pid" ] || return 0
  kill -TERM "$up_pid" 2>/dev/null
  wait "$up_pid" 2>/dev/null
  up_pid=
}

cgroup_dirs() { find /sys/fs/cgroup -type d -path "*$group*" 2>/dev/null || true; }  # others' come and go meanwhile
shim_pids() { pgrep -f "pod-shim --dir=$state/" || true; }

finish() {
  up_stop
  left=
  [ -z "$(shim_pids)" ] || left="$left shims:$(shim_pids | tr '\n' ' ')"
  grep -q "$dir" /proc/mounts && left="$left mounts"
  [ -z "$(cgroup_dirs | grep pod)" ] || left="$left cgroups"
  ip link show "$bridge" >/dev/null 2>&1 && left="$left bridge"
  [ -z "$left" ] || { echo "$name: left behind:$left"; failures=$((failures + 1)); }
  # Whatever a failed run left, found by this run's own names.
  for pid in $(shim_pids); do kill -9 "$pid"; done
  cgroup_dirs | sort -r | xargs -r rmdir 2>/dev/null
  ip link del "$bridge" 2>/dev/null
  [ "$failures" -eq 0 ] || { echo "--- log"; tail -50 "$dir/log"; }
  rm -rf "$dir"
  [ "$failures" -eq 0 ] || exit 1
  [ -z "$skipped" ] || exit 77
  echo "$name: ok"
  exit 0
}
trap finish EXIT
trap 'fail "interrupted"; exit 1' INT TERM

fail() { echo "$name: $*"; failures=$((failures + 1)); }
# want TEXT COMMAND…: the output has the text, within a while.
want() {
  local text=$1 out; shift
  for _ in $(seq "${tries:-160}"); do
    out=$("$@" 2>&1)
    [[ "$out" == *"$text"* ]] && return 0
    sleep 0.25
  done
  fail "wanted '$text' from: $*"; echo "got: $out"
}
never() {
  local text=$1 out; shift
  out=$("$@" 2>&1)
  [[ "$out" == *"$text"* ]] && fail "did not want '$text' from: $*"
}
state() { kubectl get pod "$1" -o "jsonpath={$2}"; }
# pod NAME SPEC: bound to the node here, as there may be no scheduler.
pod() {
  kubectl apply -f - >/dev/null <<Y || fail "pod $1 was refused"
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 2, $2}
Y
}
