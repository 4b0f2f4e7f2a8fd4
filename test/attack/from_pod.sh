#!/usr/bin/env bash
# What a process in a pod tries that asks for nothing, and the same with the one protection off (pod_attempts.txt).
here=$(dirname "$(readlink -f "$0")")
source "$here/../e2e/lib/up.sh"
mark="mangrove-attack-$tag"
state="/opt/$mark"  # among the programs that pods see copies of, so that hiding it is our deed
export KUBECONFIG="$state/kubeconfig" MANGROVE_TEST_PROTECTIONS=1
leave() {
  rm -rf "/root/$mark" "/var/lib/$mark" "/etc/$mark" "/usr/$mark"
  up_stop
  rm -rf "$state"
  finish
}
trap leave EXIT
echo secret >"/root/$mark"; echo secret >"/var/lib/$mark"
up_start
port=$(sed -n 's/.*https:[^:]*:\([0-9]*\),.*/\1/p' "$dir/out")
kubectl create configmap tools --from-file=call.py="$here/call.py" >/dev/null || fail "no configmap"

# What the pod runs: every attempt it is given, one line of result each.
variables="DATA='$state'; MARK='$mark'; GROUP='$group'; UP='$up_pid'; PORT='$port'; BRIDGE='$bridge'; CALL='python3 /tools/call.py'"
runner() {  # runner NAME…: the shell text that makes these attempts
  echo "$variables"
  for name in "$@"; do
    printf 'if ( %s ) >/dev/null 2>&1; then echo "%s broke"; else echo "%s held"; fi\n' "${code[$name]}" "$name" "$name"
  done
  echo 'echo all-done'
}
attack() {  # attack POD OFF NAME…: a pod with these layers off makes the attempts; its log is the result
  local pod=$1 off=$2; shift 2
  local layers= extra= security="{}"
  for one in ${off//,/ }; do
    case $one in
      spec:privileged) security="{privileged: true}" ;;
      spec:*) extra="${one#spec:}: true" ;;
      *) layers="$layers${layers:+,}$one" ;;
    esac
  done
  runner "$@" >"$dir/$pod.sh"
  kubectl create configmap "$pod" --from-file=run="$dir/$pod.sh" >/dev/null || fail "configmap $pod"
  kubectl apply -f - >/dev/null <<Y || fail "pod $pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: $pod, annotations: {mangrove.io/test-without: "$layers"}}
spec:
  nodeName: n1
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  $extra
  containers:
  - {name: main, image: x, command: [sh, /attempts/run], securityContext: $security, volumeMounts: [
      {name: tools, mountPath: /tools}, {name: attempts, mountPath: /attempts}, {name: scratch, mountPath: /scratch}]}
  volumes:
  - {name: tools, configMap: {name: tools}}
  - {name: attempts, configMap: {name: $pod}}
  - {name: scratch, emptyDir: {}}
Y
}
results() {  # results POD: its log, once it is through
  for _ in $(seq 400); do
    kubectl logs "$1" 2>/dev/null >"$dir/$1.log"
    grep -q all-done "$dir/$1.log" && break
    kubectl get pod "$1" >/dev/null 2>&1 || break
    sleep 0.2
  done
  grep -q all-done "$dir/$1.log" || { fail "pod $1 did not get through"; kubectl describe pod "$1" | tail -15; }
  cat "$dir/$1.log"
}

declare -A code off
names=()
while IFS='|' read -r name layers command; do
  [[ "$name" =~ ^[[:space:]]*(#|$) ]] && continue
  name=$(xargs <<<"$name"); names+=("$name"); off[$name]=$(tr -d ' ' <<<"$layers"); code[$name]=${command# }
done < <(sed 's/ | /|/; s/ | /|/; s/  *|/|/' "$here/pod_attempts.txt")

attack held "" "${names[@]}"
held=$(results held)
for name in "${names[@]}"; do grep -qx "$name held" <<<"$held" || fail "$name is not refused in an ordinary pod"; done

# One pod per set of layers, for all attempts that need just this set.
count=0
for set in $(printf '%s\n' "${off[@]}" | sort -u); do
  these=()
  for name in "${names[@]}"; do [ "${off[$name]}" = "$set" ] && these+=("$name"); done
  attack "off-$((++count))" "$set" "${these[@]}"
  broken=$(results "off-$count")
  for name in "${these[@]}"; do
    grep -qx "$name broke" <<<"$broken" || fail "$name is refused even without $set: something else stops it"
  done
done
# Using up what others need: with a limit the pod is ended, without one it gets away with it.
fill='head -c 40000000 /dev/zero >'
exhaust() {  # exhaust NAME LIMITS SIZE COMMAND: two pods, one of them limited
  local limits
  for limits in "$2" ""; do
    kubectl apply -f - >/dev/null <<Y || fail "pod $1 was refused"
apiVersion: v1
kind: Pod
metadata: {name: $1${limits:+-limited}}
spec:
  nodeName: n1
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: x, command: [sh, -c, '$4; sleep 1000'], resources: {limits: {$limits}}, volumeMounts: [{name: v, mountPath: /v}]}]
  volumes: [{name: v, emptyDir: {${limits:+$3}}}]
Y
  done
}
exhaust volume "memory: 512Mi" "sizeLimit: 10Mi" "$fill/v/full"
exhaust own-files "ephemeral-storage: 10Mi" "" "$fill/tmp/full"
exhaust programs "ephemeral-storage: 10Mi" "" "$fill/usr/full"
exhaust log "ephemeral-storage: 10Mi" "" "yes | head -c 40000000"
exhaust memory "memory: 32Mi" "" 'python3 -c "x = bytearray(200000000)" || exit 1'
for name in volume own-files programs log memory; do
  tries=240 want Failed state "$name-limited" .status.phase
  want Running state "$name" .status.phase
  names+=("$name")
done
# Root of a pod leaves a program with its rights in a volume, for another user of the machine to run.
kubectl apply -f - >/dev/null <<Y || fail "pod planter was refused"
apiVersion: v1
kind: Pod
metadata: {name: planter}
spec:
  nodeName: n1
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: x, command: [sh, -c, 'cp /usr/bin/id /v/planted && chmod 4755 /v/planted && touch /v/ready && sleep 1000'], volumeMounts: [{name: v, mountPath: /v}]}]
  volumes: [{name: v, emptyDir: {}}]
Y
want ready sh -c "ls $state/pods/*/volumes/v 2>/dev/null"
# Through a shell: what setpriv starts itself is still found with root's rights.
planted() { setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '"$0" -u' "$(ls "$state"/pods/*/volumes/v/planted)" 2>&1; }
chmod 755 "$state"
[ "$(planted)" = 0 ] && fail "planted-program is not refused to another user"
chmod 711 "$state/pods"
[ "$(planted)" = 0 ] || fail "planted-program is refused even without the closed directory: $(planted)"
chmod 700 "$state" "$state/pods"
names+=(planted-program)
kubectl delete pods --all --now >/dev/null
echo "${#names[@]} attempts from a pod"
