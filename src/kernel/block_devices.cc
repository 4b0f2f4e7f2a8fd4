#include "kernel/block_devices.h"

#include <set>

#include "base/text/strings.h"
#include "kernel/read_text.h"
#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

std::string doubled(std::string_view text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '-') out += '-';
  }
  return out;
}

class Reader {
 public:
  Reader(const SysRoot& root, const Mounts& mounts) : root_(root), mounts_(mounts) {}

  Result<BlockDevices> run() {
    auto entries = root_.list(blockDir());
    if (!entries) return entries.error().in("block devices");
    for (const Entry& entry : *entries) disk(entry.name);
    for (const Entry& entry : *entries) mapped(entry.name);
    readMounts();
    return std::move(out_);
  }

 private:
  std::string blockDir() const { return mounts_.sysFile("block"); }

  std::optional<std::string> numberAt(const std::string& dir) const {
    return readWord(root_, joinPath({dir, "dev"}));
  }

  void disk(const std::string& name) {
    const std::string dir = joinPath({blockDir(), name});
    const auto number = numberAt(dir);
    // Device-mapper volumes come second: their disks must be known.
    if (!number || root_.exists(joinPath({dir, "dm"})).value_or(false)) return;
    out_.disks[*number] = "/dev/" + name;
    out_.numbers["/dev/" + name] = *number;
    auto children = root_.list(dir);
    if (!children) return;
    for (const Entry& child : *children) {
      const std::string part = joinPath({dir, child.name});
      if (!root_.exists(joinPath({part, "partition"})).value_or(false)) continue;
      if (const auto partNumber = numberAt(part)) {
        out_.diskOf[*partNumber] = *number;
        out_.numbers["/dev/" + child.name] = *partNumber;
      }
    }
  }

  // Disks below a device-mapper volume, by its slaves.
  std::set<std::string> disksBelow(const std::string& dir) const {
    std::set<std::string> disks;
    auto slaves = root_.list(joinPath({dir, "slaves"}));
    if (!slaves) return disks;
    for (const Entry& slave : *slaves) {
      const auto known = out_.numbers.find("/dev/" + slave.name);
      if (known == out_.numbers.end()) continue;
      const auto above = out_.diskOf.find(known->second);
      disks.insert(above == out_.diskOf.end() ? known->second : above->second);
    }
    return disks;
  }

  void mapped(const std::string& name) {
    const std::string dir = joinPath({blockDir(), name});
    const auto number = numberAt(dir);
    const auto title = readWord(root_, joinPath({dir, "dm/name"}));
    if (!number || !title) return;
    out_.numbers["/dev/mapper/" + *title] = *number;
    out_.numbers["/dev/" + name] = *number;
    const auto disks = disksBelow(dir);
    // A volume over several disks has no one disk whose I/O could be limited.
    if (disks.size() != 1) return;
    out_.diskOf[*number] = *disks.begin();
    if (const std::string group = groupOfMapperName(*title); !group.empty())
      out_.groups[group] = *disks.begin();
  }

  void readMounts() {
    auto text = readText(root_, mounts_.procFile("1/mountinfo"));
    if (!text || !*text) return;
    for (Lines lines(**text); lines.next();) {
      const auto mount = parseMountLine(lines.line);
      if (mount && (out_.disks.contains(std::string(mount->number)) ||
                    out_.diskOf.contains(std::string(mount->number))))
        out_.mounts[std::string(mount->target)] = std::string(mount->number);
    }
  }

  const SysRoot& root_;
  const Mounts& mounts_;
  BlockDevices out_;
};

}  // namespace

std::string mapperName(std::string_view group, std::string_view volume) {
  return fmt::format("/dev/mapper/{}-{}", doubled(group), doubled(volume));
}

std::string groupOfMapperName(std::string_view name) {
  std::string group;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '-' && i + 1 < name.size() && name[i + 1] == '-')
      ++i;
    else if (name[i] == '-')
      return group;
    group += name[i];
  }
  return "";
}

Result<MountLine> parseMountLine(std::string_view line) {
  Words words(line);
  MountLine mount;
  for (int i = 0; i < 5; ++i) {
    if (!words.next()) return invalid("mountinfo line '{}': want at least 5 words", line);
    if (i == 2) mount.number = words.word;
    if (i == 4) mount.target = words.word;
  }
  return mount;
}

Result<BlockDevices> readBlockDevices(const SysRoot& root, const Mounts& mounts) {
  return Reader(root, mounts).run();
}

}  // namespace mangrove::kernel
