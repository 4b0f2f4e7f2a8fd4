#!/usr/bin/env bash
# What all commands have in common: -o, exit codes, no colour in a pipe, completion, the man page, and `kubectl mangrove …`.
source "$(dirname "$0")/lib/up.sh"
dashboard=127.0.0.1:0
up_start
server=$(dashboard_url); server=${server%/}
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
kubectl get configmap -n koordinator-system slo-controller-config -o yaml >"$dir/config.yaml"
tries=100 want '"name":"n1"' curl -fsS "$server/api/state"
tries=100 want NodeMetric kubectl get nodemetric n1 -o yaml
codes() { "$@" >"$dir/said" 2>&1; echo $?; }
is() { [ "$1" = "$2" ] || { fail "$3: exit code $2, want $1"; cat "$dir/said"; }; }

# Every command that answers: a table without colour, JSON that is JSON, YAML that says the same.
answers() {
  "$mangrove" "$@" >"$dir/table" 2>"$dir/err" || [ $? -eq 1 ] || fail "$*: $(cat "$dir/err")"
  grep -q $'\x1b' "$dir/table" && fail "$*: colour in a pipe"
  "$mangrove" "$@" -o json >"$dir/json" 2>/dev/null
  "$mangrove" "$@" -o yaml >"$dir/yaml" 2>/dev/null
  python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$dir/json" || fail "$*: -o json is no JSON"
  "$mangrove" check pod -f "$dir/yaml" >/dev/null 2>&1 || fail "$*: -o yaml is no YAML"
  [ -s "$dir/yaml" ] && ! head -c 1 "$dir/yaml" | grep -q '{' || fail "$*: -o yaml is empty or JSON"
  is 2 "$(codes "$mangrove" "$@" -o xml)" "$* -o xml"
  want "want table, json or yaml" cat "$dir/said"
}
answers version
answers check node
answers check pod -f "$examples/pods.yaml"
answers check config -f "$dir/config.yaml"
answers check cluster
answers explain node n1
answers top --once --server "$server"

# Exit codes.
is 0 "$(codes "$mangrove" check config -f "$dir/config.yaml")" "a good configuration"
is 1 "$(codes "$mangrove" check pod -f "$examples/pods.yaml")" "a pod that would be refused"
is 1 "$(codes "$mangrove" explain node nobody)" "a node that is not there"
is 2 "$(codes "$mangrove" explain node)" "no node"
is 2 "$(codes "$mangrove" chek)" "a command that is none"

# Completion and man page know every command of `help`; every flag of a command completes.
timeout 120 "$mangrove" man >"$dir/man" || fail "the man page did not end"
"$mangrove" help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' | while read -r words; do
  grep -qx "\.SS mangrove ${words//-/\\\\-}" "$dir/man" || echo "$words"
done >"$dir/missing"
[ -s "$dir/missing" ] && fail "the man page lacks: $(cat "$dir/missing")"
want "EXIT STATUS" cat "$dir/man"
want "cluster" "$mangrove" complete -- check
want "-o" "$mangrove" complete -- check cluster
want "kubeconfig" "$mangrove" complete -- explain node
for shell in bash zsh fish; do want "mangrove complete" "$mangrove" completion $shell; done
bash -n <("$mangrove" completion bash) || fail "bash does not take its completion"

# As a plugin of kubectl.
mkdir "$dir/bin" && ln -s "$(realpath "$mangrove")" "$dir/bin/kubectl-mangrove"
PATH="$dir/bin:$PATH" want "node n1 sells" kubectl mangrove explain node n1
PATH="$dir/bin:$PATH" want "colocation works" kubectl mangrove check cluster
