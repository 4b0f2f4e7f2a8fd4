#!/usr/bin/env bash
# The agent as a process over real cgroups: how soon a new container is seen, and what 500 pods that come and go within
# 30 s leave behind. Prints the figures; fails only where a figure means that something is broken.
source "$(dirname "$0")/lib/apiserver.sh"
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root to make cgroups"; exit 77; }
trap 'finish' EXIT
start
kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Node
metadata: {name: n1}
Y
python3 "$(dirname "$0")/agent_observe.py" "$mangrove" "$KUBECONFIG" "$dir"
