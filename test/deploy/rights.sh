#!/usr/bin/env bash
# Rights: the roles of config/rbac and config/webhook are enough for manager, scheduler and agent, and each is used, here or in a test that
# is named.
source "$(dirname "$0")/../e2e/lib/apiserver.sh"
here=$(cd "$(dirname "$0")" && pwd)
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: python3 has no yaml (Debian: python3-yaml)"; exit 77; }
start
mkdir -p "$dir/roles"
python3 "$here/rights.py" "$mangrove" "$KUBECONFIG" "$dir/roles" || { for log in "$dir"/roles/*.log; do echo "--- $log"; tail -n 5 "$log"; done; exit 1; }
