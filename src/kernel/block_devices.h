#pragma once
// The machine's disks and what lies on them: partitions, logical volumes, mounts. Read from sysfs
// and mountinfo, without running lsblk, vgs, lvs or findmnt.
//
//   Result<BlockDevices> blocks = readBlockDevices(root, mounts);
//   blocks->disks["259:0"] == "/dev/nvme0n1", blocks->diskOf["259:3"] == "259:0"
//
// Any thread.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

struct BlockDevices {
  std::map<std::string, std::string> disks;    // "8:0" → "/dev/sda"
  std::map<std::string, std::string> diskOf;   // number of a partition or volume → of its disk
  std::map<std::string, std::string> numbers;  // "/dev/sda1", "/dev/mapper/vg-lv" → "8:1"
  std::map<std::string, std::string> groups;   // volume group → the one disk it is on
  std::map<std::string, std::string> mounts;   // mount point → number
  bool operator==(const BlockDevices&) const = default;
};
Result<BlockDevices> readBlockDevices(const SysRoot& root, const Mounts& mounts);

// Device-mapper's name of a logical volume: "-" in either part is doubled.
// ("yoda-pool0", "yoda-1") → "/dev/mapper/yoda--pool0-yoda--1"
std::string mapperName(std::string_view group, std::string_view volume);
// The other way: the group's name; "" when it is no such name.
std::string groupOfMapperName(std::string_view name);

// "36 35 98:0 /mnt1 /mnt2 rw,noatime … - ext3 /dev/root rw" → {98:0, /mnt2}.
struct MountLine {
  std::string_view number;
  std::string_view target;  // blanks as \040, as the kernel writes them
};
Result<MountLine> parseMountLine(std::string_view line);

}  // namespace mangrove::kernel
