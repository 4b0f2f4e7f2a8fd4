# Shared by the scripts that drive `mangrove apiserver` with a stock kubectl; sourced, not run.
# Sets $dir (scratch, removed at the end), $server (process), $port, KUBECONFIG; offers the checks below. KUBE_KUBECONFIG names a
# kube-apiserver that runs already and has our kinds (lib/kube.sh): the same conversation is held with that one.
set -euo pipefail
PATH=$PATH:$HOME/.cache/mangrove/bin
if ! command -v kubectl >/dev/null; then
  echo "skipped: no kubectl in PATH or ~/.cache/mangrove/bin"
  exit 77
fi
mangrove=${MANGROVE:?path of the binary}
dir=$(mktemp -d)
server=
checks=0
finish() {  # finish [CODE]: who cleans up before it says how the test ended, or the cleaning's end would count
  local code=${1:-$?}
  [ -n "$server" ] && kill "$server" 2>/dev/null
  wait 2>/dev/null
  [ "$code" -ne 0 ] && [ -s "$dir/err" ] && { echo "--- server:"; tail -20 "$dir/err"; }
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT
export KUBECONFIG=${KUBE_KUBECONFIG:-$dir/data/kubeconfig} HOME=$dir

start() {  # start [PORT]: a server on that port, or on a free one
  [ -z "${KUBE_KUBECONFIG:-}" ] || return 0
  rm -f "$dir/out"
  mkfifo "$dir/out"
  "$mangrove" apiserver --data-dir "$dir/data" --port "${1:-0}" >"$dir/out" 2>>"$dir/err" &
  server=$!
  local line
  read -r line <"$dir/out" || { cat "$dir/err"; return 1; }
  port=$(sed -n 's/.*:\([0-9]*\),.*/\1/p' <<<"$line")
}

complain() {  # complain WHAT WANTED GOT COMMAND…
  local what=$1 wanted=$2 got=$3
  shift 3
  printf 'FAILED: %s\n  %s: %s\n  got: %s\n' "$*" "$what" "$wanted" "$got"
  exit 1
}

want() {  # want TEXT COMMAND…: it succeeds and its output contains the text
  local text=$1 got code=0
  shift
  got=$("$@" 2>&1) || code=$?
  [ "$code" -eq 0 ] || complain "succeeds, with" "$text" "(exit $code) $got" "$@"
  grep -qF -- "$text" <<<"$got" || complain "want" "$text" "$got" "$@"
  checks=$((checks + 1))
}

same() {  # same TEXT COMMAND…: it succeeds and its output is exactly the text
  local text=$1 got code=0
  shift
  got=$("$@" 2>&1) || code=$?
  [ "$code" -eq 0 ] && [ "$got" = "$text" ] || complain "want exactly" "$text" "(exit $code) $got" "$@"
  checks=$((checks + 1))
}

refused() {  # refused TEXT COMMAND…: it fails and says the text
  local text=$1 got code=0
  shift
  got=$("$@" 2>&1) || code=$?
  [ "$code" -ne 0 ] || complain "is refused with" "$text" "(it succeeded) $got" "$@"
  grep -qF -- "$text" <<<"$got" || complain "is refused with" "$text" "$got" "$@"
  checks=$((checks + 1))
}

lacks() {  # lacks TEXT COMMAND…: its output does not contain the text
  local text=$1 got
  shift
  got=$("$@" 2>&1) || true
  ! grep -qF -- "$text" <<<"$got" || complain "must not say" "$text" "$got" "$@"
  checks=$((checks + 1))
}

eventually() {  # eventually CHECK TEXT COMMAND…: the check holds within ten seconds
  local i
  for i in $(seq 100); do
    if ("$@") >/dev/null 2>&1; then
      checks=$((checks + 1))
      return
    fi
    sleep 0.1
  done
  "$@"
}

all_good() { echo "all good: $checks checks"; }
