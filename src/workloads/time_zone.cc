#include "workloads/time_zone.h"

#include "base/os/files.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;

int64_t bigEndian(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  if (width == 4) return static_cast<int32_t>(static_cast<uint32_t>(value));
  return static_cast<int64_t>(value);
}

// The counts in a header and where its data lies.
struct Block {
  size_t data = 0, width = 4;
  size_t leaps = 0, times = 0, types = 0, letters = 0, standards = 0, utcs = 0;
  size_t size() const {
    return times * width + times + types * 6 + letters + leaps * (width + 4) + standards + utcs;
  }
};

constexpr size_t kHeader = 44;

Result<Block> blockAt(std::string_view file, size_t at, size_t width) {
  if (file.size() < at + kHeader || file.substr(at, 4) != "TZif")
    return invalid("it is no time zone file");
  auto count = [&](size_t index) {
    return static_cast<size_t>(static_cast<uint32_t>(bigEndian(file, at + 20 + index * 4, 4)));
  };
  Block block{at + kHeader, width, count(2), count(3), count(4), count(5), count(1), count(0)};
  const bool fits = block.times < file.size() && block.types < file.size() &&
                    block.leaps < file.size() && block.data + block.size() <= file.size();
  if (!fits || block.types == 0) return invalid("the time zone file is cut short");
  return block;
}

}  // namespace

Result<Duration> utcOffsetIn(std::string_view file, WallTime at) {
  auto block = blockAt(file, 0, 4);
  if (!block) return pass(block.error());
  if (file[4] >= '2') block = blockAt(file, block->data + block->size(), 8);
  if (!block) return pass(block.error());
  const auto when = std::chrono::floor<seconds>(at).time_since_epoch().count();
  size_t type = 0;
  for (size_t i = 0; i < block->times; ++i) {
    if (bigEndian(file, block->data + i * block->width, block->width) > when) break;
    type = static_cast<unsigned char>(file[block->data + block->times * block->width + i]);
  }
  if (type >= block->types) return invalid("the time zone file names a type it does not have");
  const size_t types = block->data + block->times * (block->width + 1);
  return seconds(bigEndian(file, types + type * 6, 4));
}

Result<Duration> utcOffset(std::string_view zone, WallTime at) {
  if (zone.empty() || zone == "UTC" || zone == "Etc/UTC") return Duration::zero();
  if (zone.find("..") != std::string_view::npos || zone.front() == '/')
    return invalid("time zone '{}': want a name such as Europe/Berlin", zone);
  auto file = readFile("/usr/share/zoneinfo/" + std::string(zone));
  if (!file) return file.error().in("time zone '{}'", zone);
  auto offset = utcOffsetIn(*file, at);
  if (!offset) return offset.error().in("time zone '{}'", zone);
  return offset;
}

}  // namespace mangrove::workloads
