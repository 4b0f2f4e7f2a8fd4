#!/usr/bin/env bash
# Drives `mangrove apiserver` with the unmodified Python client `kubernetes`: test/clients/python/client_test.py.
# Needs a python3 with that module: $MANGROVE_PYTHON, the one in PATH, or ~/.cache/mangrove/python-client.
set -euo pipefail
python=
for candidate in "${MANGROVE_PYTHON:-}" python3 "$HOME/.cache/mangrove/python-client/bin/python"; do
  if [ -n "$candidate" ] && "$candidate" -c 'import kubernetes' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: no python3 with the module kubernetes (pip install kubernetes into ~/.cache/mangrove/python-client)"
  exit 77
fi
exec "$python" "$(dirname "$0")/../clients/python/client_test.py"
