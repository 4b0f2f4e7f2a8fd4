#!/usr/bin/env bash
# The image: two builds give the same bytes, it holds to its size, its digests are right, and the program runs in it with nothing else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -x "${MANGROVE:-}" ] || { echo "skipped: no binary (MANGROVE)"; exit 77; }
command -v strip >/dev/null && command -v dpkg-query >/dev/null || { echo "skipped: needs binutils and a Debian system"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/mangrove-image-XXXXXX")
trap 'rm -rf "$dir"' EXIT
SOURCE_DATE_EPOCH=1700000000 "$here/../../packaging/image" "$MANGROVE" "$dir/one" >/dev/null
SOURCE_DATE_EPOCH=1700000000 "$here/../../packaging/image" "$MANGROVE" "$dir/two" >/dev/null
diff -r "$dir/one" "$dir/two" || { echo "two builds of one binary differ"; exit 1; }
python3 "$here/image.py" "$dir/one" "$dir/root"
if [ "$(id -u)" -ne 0 ]; then
  echo "the archive is right; not run: chroot needs root"
  exit 0
fi
chroot --userspec=65532:65532 "$dir/root" /usr/bin/mangrove version >"$dir/said"
cmp "$dir/said" <("$MANGROVE" version) || { echo "in the image it says: $(cat "$dir/said")"; exit 1; }
chroot --userspec=65532:65532 "$dir/root" /usr/bin/mangrove help >/dev/null
echo "runs as 65532: $(cat "$dir/said")"
