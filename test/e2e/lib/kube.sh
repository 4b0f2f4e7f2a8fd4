# A kube-apiserver with etcd and our kinds, for scripts that hold on it the conversation they have with our own server; sourced, not
# run. Sets KUBE_KUBECONFIG, which lib/apiserver.sh looks for; play_nodes lets kwok play the kubelets.
set -euo pipefail
kube_here=$(dirname "${BASH_SOURCE[0]}")
source "$kube_here/../../kubernetes/lib/control_plane.sh"
kube_needs() { for tool in "$@"; do command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }; done; }
kube_needs kubectl openssl curl
control_plane_missing && exit 77
kube_dir=$(mktemp -d)
stop_kube() {
  kill -9 "${kwok_pid:-}" "${kube_pid:-}" "${etcd_pid:-}" 2>/dev/null || true
  rm -rf "$kube_dir"
}
trap stop_kube EXIT
ETCD_FLAGS=--unsafe-no-fsync start_control_plane "$kube_dir"
export KUBE_KUBECONFIG=$kube_dir/kubeconfig
kubectl --kubeconfig "$KUBE_KUBECONFIG" apply --server-side -k "$kube_here/../../../config/crd" >/dev/null
kubectl --kubeconfig "$KUBE_KUBECONFIG" wait --for condition=established crd --all --timeout 120s >/dev/null

play_nodes() {
  kube_needs kwok
  kwok --kubeconfig "$KUBE_KUBECONFIG" --config "$kube_here/../../kubernetes/lib/kwok.yaml" --manage-all-nodes >"$kube_dir/kwok.log" 2>&1 &
  kwok_pid=$!
}
