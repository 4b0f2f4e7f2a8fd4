#!/usr/bin/env bash
# The conversation of scheduler_claims.sh on a real kube-apiserver with etcd.
source "$(dirname "$0")/lib/kube.sh"
bash "$(dirname "$0")/scheduler_claims.sh"
