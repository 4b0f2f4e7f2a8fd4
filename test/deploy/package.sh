#!/usr/bin/env bash
# The Debian package: it builds, lintian has nothing to say about it, and its services name flags that exist.
# (make test-packages installs, upgrades, removes and purges it in a fresh root.)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
[ -x "${MANGROVE:-}" ] || { echo "skipped: no binary (MANGROVE)"; exit 77; }
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: no dpkg-shlibdeps (Debian: dpkg-dev)"; exit 77; }
for unit in "$root"/packaging/debian/*.service; do
  command=$(sed -n 's|^ExecStart=/usr/bin/mangrove \([a-z ]*[a-z]\).*|\1|p' "$unit")
  help=$("$MANGROVE" $command --help) || { echo "$(basename "$unit"): there is no 'mangrove $command'"; exit 1; }
  for flag in $(grep -o -- ' --[a-z-]*' "$unit" || true); do
    grep -q -- "$flag" <<<"$help" || { echo "$(basename "$unit"): mangrove $command has no flag $flag"; exit 1; }
  done
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/mangrove-package-XXXXXX")
trap 'rm -rf "$dir"' EXIT
deb=$("$root/packaging/deb" "$MANGROVE" "$dir")
grep -q "^## $(cat "$root/VERSION")\b" "$root/CHANGELOG.md" || { echo "CHANGELOG.md does not have the version of VERSION"; exit 1; }
command -v lintian >/dev/null || { echo "skipped: built, but there is no lintian to judge it"; exit 77; }
# How the program was linked is the release build's affair, not this one's.
said=$(lintian --allow-root --tag-display-limit 0 "$deb" 2>/dev/null | grep -v ': hardening-no-' || true)
[ -z "$said" ] || { echo "$said"; exit 1; }
echo "$(basename "$deb"): $(stat -c %s "$deb") bytes, lintian is content"
