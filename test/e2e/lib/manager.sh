# Shared by the scripts that run `mangrove manager`; sourced after lib/apiserver.sh.
declare -A manager
stop_managers() {
  for m in "${manager[@]}"; do kill "$m" 2>/dev/null; done
}
trap 'code=$?; stop_managers; finish $code' EXIT

config() {  # config COLOCATION [SYSTEM [BURST]]: the ConfigMap, each key as JSON
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: ConfigMap
metadata: {name: slo-controller-config, namespace: koordinator-system}
data:
  colocation-config: '$1'
  ${2:+system-config: '$2'}
  ${3:+cpu-burst-config: '$3'}
Y
}

prepare_cluster() {
  kubectl create namespace koordinator-system >/dev/null
  config '{"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65}'
}

node() {  # node NAME CORES MEMORY
  kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: $1, annotations: {a: b}}
status:
  capacity: {cpu: "$2", memory: $3, pods: "110"}
  allocatable: {cpu: "$2", memory: $3, pods: "110"}
Y
}

report() {  # report NODE SYSTEM_CORES SERVICE_CORES: the agent's report
  kubectl patch nodemetric "$1" --subresource=status --type=merge -p '{"status":{"updateTime":"'"$(date -u +%FT%TZ)"'",
    "nodeMetric":{"nodeUsage":{"resources":{"cpu":"50","memory":"55G"}},"systemUsage":{"resources":{"cpu":"'"$2"'","memory":"12G"}}},
    "podsMetric":[{"name":"a","namespace":"default","priority":"koord-prod","podUsage":{"resources":{"cpu":"'"$3"'","memory":"33G"}}}]}}' >/dev/null
}

start_manager() {  # start_manager NAME [FLAGS…]; METRICS_ADDR says where metrics are served
  local name=$1
  shift
  WEBHOOK_PORT=0 WEBHOOK_CERT_DIR="$dir/certs-$name" "$mangrove" manager --metrics-addr "${METRICS_ADDR:-0}" --health-probe-addr 0 "$@" 2>"$dir/manager-$name" &
  manager[$name]=$!
}

stop_manager() {  # stop_manager NAME: SIGTERM, and it must end well
  local code=0
  kill "${manager[$1]}"
  wait "${manager[$1]}" || code=$?
  unset "manager[$1]"
  [ "$code" -eq 0 ] || complain "ends with" 0 "$code" manager "$1"
  checks=$((checks + 1))
}
