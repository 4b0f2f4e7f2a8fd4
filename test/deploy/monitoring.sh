#!/usr/bin/env bash
# Prometheus rules and Grafana boards: every metric exists, every alert has its runbook, and promtool plays the rules.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: python3 has no yaml (Debian: python3-yaml)"; exit 77; }
python3 "$here/monitoring.py"
promtool=$(PATH="${MANGROVE_PROGRAMS:-$HOME/.cache/mangrove/bin}:$PATH" command -v promtool) ||
  { echo "skipped: rules were not played: no promtool (Debian: prometheus)"; exit 77; }
cd "$here/../../deploy/monitoring"
"$promtool" check rules rules.yaml
"$promtool" test rules rules_test.yaml
