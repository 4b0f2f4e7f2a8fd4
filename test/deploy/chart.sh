#!/usr/bin/env bash
# The chart: observe-only is real, parts switch, rights are narrow, pods fit `restricted`, flags exist, values are checked; and the plain
# manifests are what it renders.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
packed=$(mktemp -d "${TMPDIR:-/tmp}/mangrove-chart-XXXXXX")
trap 'rm -rf "$packed"' EXIT
"$here/../../packaging/chart" "$packed" >/dev/null
helm=$(PATH="${MANGROVE_PROGRAMS:-$HOME/.cache/mangrove/bin}:$PATH" command -v helm) || { echo "skipped: no helm (test/kubernetes/programs helm builds it)"; exit 77; }
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: python3 has no yaml (Debian: python3-yaml)"; exit 77; }
"$helm" lint "$here/../../deploy/helm/mangrove" 2>/dev/null | grep -q '0 chart(s) failed' || { "$helm" lint "$here/../../deploy/helm/mangrove"; exit 1; }
python3 "$here/chart.py" "$helm"
"$here/../../deploy/render" --check
