# The give-back ladder with cgroup v2: batch work holds most of a limit, a service grows beside it. Page cache needs a block
# device: a loop device over a file in memory, if its driver is there.
scratch=/tmp
if [ -e /lib/loop.ko ] && insmod /lib/loop.ko; then
  head -c 1 /dev/zero >/tmp/disk
  truncate -s 400M /tmp/disk
  losetup /dev/loop0 /tmp/disk && scratch=/dev/loop0
fi
mangrove bench memory --limit 384 --pace 32 --scratch $scratch >/tmp/memory.out || { cat /tmp/memory.out; exit 1; }
cat /tmp/memory.out
given() { grep "^$1  " /tmp/memory.out; }  # the run in which memory was given back
for kind in "page cache" anonymous; do
  given "$kind" | grep -q "service has its memory" || { echo "$kind: the service did not get its memory"; exit 1; }
  given "$kind" | grep -q "killed by the kernel" && { echo "$kind: the kernel killed in spite of the ladder"; exit 1; }
done
given anonymous | grep -q "batch evicted" || { echo "anonymous memory can only be had by eviction, and nobody evicted"; exit 1; }
if [ $scratch != /tmp ]; then
  grep -q "^  reclaim .* done$" /tmp/memory.out || { echo "page cache was there, and nobody reclaimed any"; exit 1; }
fi
