#!/usr/bin/env bash
# The conversation of scheduler_quota.sh (two tenants: borrow, explain, the named change, reclaim) on a real kube-apiserver with etcd.
set -euo pipefail
here=$(dirname "$0")
source "$here/../kubernetes/lib/control_plane.sh"
for tool in python3 kubectl openssl curl; do command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
control_plane_missing && exit 77
dir=$(mktemp -d)
trap 'kill -9 "${kube_pid:-}" "${etcd_pid:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
ETCD_FLAGS=--unsafe-no-fsync start_control_plane "$dir"
export KUBECONFIG=$dir/kubeconfig
kubectl apply --server-side -k "$here/../../config/crd" >/dev/null
kubectl wait --for condition=established crd --all --timeout 120s >/dev/null
KUBE_PORT=$kube_port KUBE_TOKEN=$control_plane_token KUBE_KUBECONFIG=$dir/kubeconfig python3 "$here/scheduler_quota.py"
