#!/usr/bin/env bash
# The conversation of scheduler_quota.sh (two tenants: borrow, explain, the named change, reclaim) on a real kube-apiserver with etcd.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
source "$(dirname "$0")/lib/kube.sh"
KUBE_PORT=$kube_port KUBE_TOKEN=$control_plane_token python3 "$(dirname "$0")/scheduler_quota.py"
