#!/usr/bin/env bash
# Asks `mangrove apiserver` and a real kube-apiserver the same things (test/compare) and fails on differences nobody
# meant. Needs kube-apiserver in ~/.cache/mangrove/bin or PATH, etcd and a python3 with yaml.
exec python3 "$(dirname "$0")/../compare/compare.py" --mangrove "${MANGROVE:?path of the binary}"
