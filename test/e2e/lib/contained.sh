# The agent as a DaemonSet has it; run with `unshare --mount --propagation private sh contained.sh ROOT STATE NRI KUBELET MANGROVE KUBECONFIG [FLAG…]`.
# Everything a container would be given: its own root, programs, the host's proc (hostPID) and sys below /host, the runtime's folder in
# the host's /var/run, and one folder that outlives it. Each start makes all of it anew, as recreating a container does.
set -e
root=$1; state=$2; nri=$3; kubelet=$4; mangrove=$5; config=$6; shift 6
mount -t tmpfs container "$root"
mkdir -p "$root"/usr "$root"/etc "$root"/tmp "$root"/proc "$root"/dev "$root"/state "$root"/host/proc "$root"/host/sys "$root"/host/var/run/nri "$root"/var/lib/kubelet "$root"/run
for one in bin lib lib64 sbin; do if [ -L /$one ]; then ln -s "$(readlink /$one)" "$root/$one"; elif [ -d /$one ]; then mkdir "$root/$one"; mount --rbind /$one "$root/$one"; fi; done
mount --rbind /usr "$root"/usr; mount --rbind /etc "$root"/etc; mount --rbind /dev "$root"/dev
mount --rbind /proc "$root"/proc; mount --rbind /proc "$root"/host/proc; mount --rbind /sys "$root"/host/sys
mount --bind "$nri" "$root"/host/var/run/nri; mount --bind "$kubelet" "$root"/var/lib/kubelet; mount --bind "$state" "$root"/state
touch "$root"/mangrove "$root"/kubeconfig; mount --bind "$mangrove" "$root"/mangrove; mount --bind "$config" "$root"/kubeconfig
exec chroot "$root" /mangrove agent --kubeconfig /kubeconfig --root /host --state-dir /state --runtime-hooks-nri-socket-path nri/nri.sock "$@"
