# etcd and a kube-apiserver on loopback, for tests and benchmarks; sourced, not run. The server makes its own certificate, writes
# go to $1, and whoever has the token below is system:masters.
#
#   source test/kubernetes/lib/control_plane.sh
#   control_plane_missing && exit 77          # says what is not here
#   start_control_plane "$dir"                # sets etcd_pid, kube_pid, kube_port; writes $dir/kubeconfig; waits until it serves
#   restart_kube_apiserver "$dir"             # after its process was ended: the same port, certificate and data
#   kill -9 "$kube_pid" "$etcd_pid"           # an orderly end takes a minute and interests nobody
#
# KUBE_APISERVER and ETCD name the programs (default: in PATH or ~/.cache/mangrove/bin). KUBE_FLAGS adds flags to the server's;
# ETCD_FLAGS to etcd's (tests: --unsafe-no-fsync); KUBE_TOKENS lines to the file of tokens. Debian's etcd 3.4 does.
PATH=$PATH:$HOME/.cache/mangrove/bin
control_plane_token=bench-token

# Below the ports the kernel gives to connections: while a server is down, one of those trying to reach it could otherwise take its port.
free_port() {
  python3 -c '
import random, socket
while True:
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", random.randrange(15000, 31000)))
            print(one.getsockname()[1])
            break
        except OSError:
            pass'
}

control_plane_missing() {
  kube_program=${KUBE_APISERVER:-$(command -v kube-apiserver || true)}
  etcd_program=${ETCD:-$(command -v etcd || true)}
  [ -x "$kube_program" ] && [ -x "$etcd_program" ] && return 1
  echo "skipped: kube-apiserver and etcd are not both here (KUBE_APISERVER='$kube_program', ETCD='$etcd_program')"
}

start_etcd() {  # start_etcd DIR: on the ports of $DIR/ports
  local client peer
  read -r client peer _ <"$1/ports"
  "$etcd_program" --data-dir "$1/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" ${ETCD_FLAGS:-} >>"$1/etcd.log" 2>&1 &
  etcd_pid=$!
}

restart_kube_apiserver() {  # restart_kube_apiserver DIR
  local client
  read -r client _ kube_port <"$1/ports"
  "$kube_program" --etcd-servers "http://127.0.0.1:$client" --secure-port "$kube_port" --bind-address 127.0.0.1 --cert-dir "$1/certs" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$1/sa.pub" \
    --service-account-signing-key-file "$1/sa.key" --token-auth-file "$1/tokens.csv" --authorization-mode Node,RBAC \
    --service-cluster-ip-range 10.96.0.0/16 ${KUBE_FLAGS---disable-admission-plugins ServiceAccount} >>"$1/kube.log" 2>&1 &
  kube_pid=$!
  await_kube_apiserver "$1"
}

await_kube_apiserver() {
  local i
  for ((i = 0; i < 900; i++)); do
    [ "$(kube_get "$1" /readyz)" = ok ] && kube_get "$1" /api/v1/namespaces/default | grep -q '"Active"' && return 0
    kill -0 "$kube_pid" 2>/dev/null || { tail -5 "$1/kube.log"; return 1; }
    sleep 0.1
  done
  echo "kube-apiserver did not get ready within 90 s"
  kill -9 "$kube_pid"
  return 1
}

kube_get() { curl -sk -H "Authorization: Bearer $control_plane_token" "https://127.0.0.1:$kube_port$2" || true; }

start_control_plane() {  # start_control_plane DIR
  mkdir -p "$1"
  kube_port=$(free_port)
  echo "$(free_port) $(free_port) $kube_port" >"$1/ports"
  openssl genrsa -out "$1/sa.key" 2048 2>/dev/null
  openssl rsa -in "$1/sa.key" -pubout -out "$1/sa.pub" 2>/dev/null
  echo "$control_plane_token,admin,1,\"system:masters\"${KUBE_TOKENS:+$'\n'$KUBE_TOKENS}" >"$1/tokens.csv"
  kubeconfig_with "$1" "$control_plane_token" >"$1/kubeconfig"
  start_etcd "$1"
  restart_kube_apiserver "$1"
}

kubeconfig_with() {  # kubeconfig_with DIR TOKEN: for somebody with that token
  cat <<Y
apiVersion: v1
kind: Config
current-context: peer
clusters: [{name: peer, cluster: {server: "https://127.0.0.1:$kube_port", insecure-skip-tls-verify: true}}]
users: [{name: user, user: {token: "$2"}}]
contexts: [{name: peer, context: {cluster: peer, user: user}}]
Y
}
