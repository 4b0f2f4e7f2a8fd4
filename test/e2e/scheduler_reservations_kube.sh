#!/usr/bin/env bash
# The conversation of scheduler_reservations.sh on a real kube-apiserver with etcd, on a node that kwok plays.
source "$(dirname "$0")/lib/kube.sh"
play_nodes
bash "$(dirname "$0")/scheduler_reservations.sh"
