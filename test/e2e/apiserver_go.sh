#!/usr/bin/env bash
# Points unmodified Go controllers (client-go informers, controller-runtime) at `mangrove apiserver`: test/clients/go.
# The program is built once per state of its sources into ~/.cache/mangrove/go-clients; needs go and its modules.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$HOME/.cache/mangrove/go-clients
if ! command -v go >/dev/null; then
  echo "skipped: no go in PATH"
  exit 77
fi
program=$cache/clients-$(cat "$here"/../clients/go/*.go "$here"/../clients/go/go.mod | sha256sum | cut -c1-16)
if [ ! -x "$program" ]; then
  mkdir -p "$cache"
  cp "$here/../clients/go/go.mod" "$cache/go.mod" # resolved there, so that the tree stays as it is
  code=0
  (cd "$here/../clients/go" && timeout 200 nice -n 15 go test -mod=mod -modfile="$cache/go.mod" -c -o "$program" .) >"$cache/log" 2>&1 || code=$?
  if [ "$code" -eq 124 ]; then
    echo "skipped: compiling the Go clients takes longer than 200 s here; go keeps what is done, the next run goes on from there"
    exit 77
  fi
  if [ "$code" -ne 0 ]; then
    if grep -qE 'dial tcp|no such host|proxyconnect|i/o timeout|connection refused' "$cache/log"; then
      echo "skipped: the Go modules of test/clients/go cannot be had here: $(tail -1 "$cache/log")"
      exit 77
    fi
    cat "$cache/log"
    exit 1
  fi
fi
dir=$(mktemp -d)
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
mkfifo "$dir/out"
"${MANGROVE:?path of the binary}" apiserver --data-dir "$dir/data" --port 0 >"$dir/out" 2>"$dir/err" &
server=$!
read -r _ <"$dir/out" || { cat "$dir/err"; exit 1; }
KUBECONFIG=$dir/data/kubeconfig "$program" -test.v -test.timeout 120s >"$dir/log" 2>&1 || { cat "$dir/log"; tail "$dir/err"; exit 1; }
grep -E '^(---|ok|PASS)' "$dir/log"
