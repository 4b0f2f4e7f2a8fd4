# Shared by the scripts that run `mangrove scheduler` beside the API server of lib/apiserver.sh; sourced, not run.
declare -A scheduler=()  # name → process

start_scheduler() {  # start_scheduler NAME FLAG…: its pages are on $dir/ops-NAME
  local name=$1
  shift
  "$mangrove" scheduler --kubeconfig "$KUBECONFIG" --metrics-bind-address 127.0.0.1:0 "$@" >"$dir/scheduler-$name" 2>&1 &
  scheduler[$name]=$!
}

ops_of() {  # ops_of NAME: http://127.0.0.1:PORT of its pages
  echo "http://127.0.0.1:$(sed -n 's/.*pages are on port \([0-9]*\).*/\1/p' "$dir/scheduler-$1" | head -1)"
}

stop_schedulers() {
  local name
  for name in "${!scheduler[@]}"; do kill "${scheduler[$name]}" 2>/dev/null || true; done
  true
}

make_node() {  # make_node NAME CPU [MORE YAML OF THE METADATA AND SPEC]
  local amounts="{cpu: \"$2\", memory: 8Gi, pods: \"110\"}"
  local status="{capacity: $amounts, allocatable: $amounts, conditions: [{type: Ready, status: \"True\"}]}"
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: $1, labels: {kubernetes.io/hostname: $1${3:+, $3}}}
${4:+spec: {$4\}}
status: $status
Y
  [ -n "${KUBE_KUBECONFIG:-}" ] || return 0
  # It keeps what a kubelet says apart from what is created, and taints what is new.
  kubectl patch node "$1" --subresource status --type merge -p "status: $status" >/dev/null
  kubectl patch node "$1" --type merge -p "spec: {taints: null}" >/dev/null
}

make_pod() {  # make_pod NAME CPU [MORE YAML OF THE SPEC] [MORE YAML OF THE METADATA]
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1${4:+, $4}}
spec: {${3:+$3, }schedulerName: koord-scheduler, terminationGracePeriodSeconds: 0, containers: [{name: c, image: i, resources: {requests: {cpu: $2}}}]}
Y
}

node_of() { kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}'; }
condition_of() { kubectl get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'; }
