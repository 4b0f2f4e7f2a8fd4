#!/usr/bin/env bash
# Runs in an executor that is about to end (preStop): tells it to move its blocks to the others, and waits while it does. What it does not
# manage within the pod's grace period is computed again.
kill -s PWR 1
tail --pid=1 -f /dev/null
