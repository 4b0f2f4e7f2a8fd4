#!/usr/bin/env bash
# A storm of reservations that are made, expire, are matched and deleted while schedulers are killed with -9 (SECONDS_OF, SEED; make
# test-reservations MINUTES=10 is the long one): no node is ever promised twice, whoever fits is placed within a minute.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/scheduler_reservation_storm.py"
