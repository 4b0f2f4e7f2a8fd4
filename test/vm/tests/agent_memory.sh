# The give-back ladder with cgroup v2: batch work holds most of a limit, a service grows beside it. Page cache needs a block
# device: a loop device over a file in memory, if its driver is there.
scratch=/tmp
if [ -e /lib/loop.ko ] && insmod /lib/loop.ko; then
  head -c 1 /dev/zero >/tmp/disk
  truncate -s 400M /tmp/disk
  losetup /dev/loop0 /tmp/disk && scratch=/dev/loop0
fi
mangrove bench memory --limit 384 --pace 32 --scratch $scratch
