# Sourced after lib/up.sh by tests of pods in a container runtime: a containerd and a registry of our own, both on this machine
# only. Offers containerd_start, containerd_stop, $runtime (its socket), $registry (host:port), runtime_ls. Debian's packages
# containerd, runc and busybox-static are enough; skipped (77) without them.
for program in containerd ctr runc busybox python3; do
  command -v $program >/dev/null || skip "there is no $program (apt-get install containerd runc busybox-static)"
done
busybox --list >/dev/null 2>&1 || skip "busybox cannot list its programs"
runtime="$dir/containerd.sock"
containerd_pid= registry_pid=
# Where root may not lower it, a container keeps the score of who starts it.
restrict=false
( echo -1 >/proc/self/oom_score_adj ) 2>/dev/null || restrict=true

registry_start() {
  local nginx=
  command -v nginx >/dev/null && nginx=--nginx
  python3 "$(dirname "${BASH_SOURCE[0]}")/registry.py" --port-file "$dir/registry" --password joe:secret $nginx &
  registry_pid=$!
  for _ in $(seq 300); do [ -s "$dir/registry" ] && break; sleep 0.1; done
  registry="127.0.0.1:$(cat "$dir/registry")"
}

containerd_start() {
  [ -n "$registry_pid" ] || registry_start
  # containerd 2 asks by TLS unless it is told otherwise, on loopback too.
  mkdir -p "$dir/certs.d/$registry"
  printf 'server = "http://%s"\n[host."http://%s"]\n  capabilities = ["pull", "resolve"]\n' "$registry" "$registry" >"$dir/certs.d/$registry/hosts.toml"
  cat >"$dir/containerd.toml" <<T
version = 2
root = "$dir/containerd/root"
state = "$dir/containerd/state"
[grpc]
  address = "$runtime"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$registry/pause:1"
  restrict_oom_score_adj = $restrict
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$dir/certs.d"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$dir/cni/bin"
    conf_dir = "$dir/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${snapshotter:-overlayfs}"
[plugins."io.containerd.internal.v1.opt"]
  path = "$dir/containerd/opt"
T
  containerd --config "$dir/containerd.toml" >>"$dir/containerd.log" 2>&1 &
  containerd_pid=$!
  for _ in $(seq 100); do
    ctr -a "$runtime" version >/dev/null 2>&1 && return 0
    kill -0 "$containerd_pid" 2>/dev/null || break
    sleep 0.1
  done
  tail -5 "$dir/containerd.log"; skip "containerd does not start here"
}

runtime_ls() { ctr -a "$runtime" -n k8s.io containers ls -q; }

# What a failed run left goes with its shims.
containerd_stop() {
  for task in $(ctr -a "$runtime" -n k8s.io tasks ls -q 2>/dev/null); do
    ctr -a "$runtime" -n k8s.io tasks kill -s SIGKILL "$task" >/dev/null 2>&1
  done
  for pid in $containerd_pid $registry_pid; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  for pid in $(pgrep -f "containerd-shim-runc-v2 .*-address $runtime"); do kill -9 "$pid"; done
  for place in $(awk -v dir="$dir/" 'index($2, dir) == 1 {print $2}' /proc/mounts | sort -r); do umount -l "$place"; done
}
trap 'up_stop; containerd_stop; finish' EXIT
