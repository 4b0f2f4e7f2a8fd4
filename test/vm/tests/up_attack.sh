# What a pod tries that would change the machine itself: refused in a pod that asks for nothing, done in one whose protections are off. Only here,
# because a machine that people use must not be tried upon.
[ -x /bin/kubectl ] || { echo "there was no kubectl to pack"; exit 77; }
export KUBECONFIG=/state/kubeconfig HOME=/root MANGROVE_TEST_PROTECTIONS=1
mkdir -p /state
mangrove up --data-dir /state --port 6443 --node-name vm --without koord-manager,koord-scheduler,koordlet >/tmp/up.out 2>/tmp/up.log &
up=$!
await() {  # await SECONDS TEXT COMMAND…
  left=$1 text=$2; shift 2
  while [ "$left" -gt 0 ]; do
    "$@" 2>&1 | grep -q -- "$text" && return 0
    kill -0 $up 2>/dev/null || break
    sleep 2; left=$((left - 2))
  done
  echo "FAILED: no '$text' from: $*"; "$@" 2>&1 | tail -20; tail -30 /tmp/up.log; exit 1
}
await 60 "is ready" cat /tmp/up.out
cat >/tmp/attempts <<'A'
try() { if sh -c "$2" >/dev/null 2>&1; then echo "$1 broke"; else echo "$1 held"; fi; }
try set-clock "now=\$(date +%s); date -s @1900000000 && test \$(date +%s) -ge 1900000000; done=\$?; date -s @\$now; exit \$done"  # and back: certificates end
try domain-name "echo attacked >/proc/sys/kernel/domainname"
try kernel-parameter "echo 1 >/proc/sys/kernel/panic_on_oops"
try host-parameter "echo 99 >/proc/sys/vm/swappiness"
try crash-trigger "echo s >/proc/sysrq-trigger"
try core-pattern "echo /tmp/x >/proc/sys/kernel/core_pattern"
echo all-done
A
attempts="set-clock domain-name kernel-parameter host-parameter crash-trigger core-pattern"
kubectl create configmap attempts --from-file=run=/tmp/attempts || exit 1
attack() {  # attack POD LAYERS
  kubectl apply -f - <<Y || exit 1
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {mangrove.io/test-without: "$2"}}
spec:
  nodeName: vm
  restartPolicy: Never
  containers: [{name: main, image: x, command: [sh, /attempts/run], volumeMounts: [{name: a, mountPath: /attempts}]}]
  volumes: [{name: a, configMap: {name: attempts}}]
Y
  await 240 all-done kubectl logs "$1"
  kubectl logs "$1" >"/tmp/$1.log"
}
attack held ""
attack off seccomp,capabilities,user-map,masked-paths,no-new-privileges,private-root
failed=0
for name in $attempts; do
  grep -qx "$name held" /tmp/held.log || { echo "$name is not refused in an ordinary pod"; failed=1; }
  grep -qx "$name broke" /tmp/off.log || { echo "$name is refused even without protections: something else stops it"; failed=1; }
done
kill $up; wait $up 2>/dev/null
exit $failed
