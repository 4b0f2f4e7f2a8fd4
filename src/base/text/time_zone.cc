#include "base/text/time_zone.h"

#include <algorithm>
#include <optional>

#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

constexpr size_t kHeader = 44;

int64_t bigEndian(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; i++) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  if (width == 4) return static_cast<int32_t>(static_cast<uint32_t>(value));
  return static_cast<int64_t>(value);
}

// What a header counts, and where its data lies: times, a type for each, types of six bytes, and
// more that nobody asks for.
struct Block {
  size_t data = 0, width = 4;
  size_t utcs = 0, standards = 0, leaps = 0, times = 0, types = 0, letters = 0;
  size_t indexes() const { return data + times * width; }
  size_t firstType() const { return indexes() + times; }
  size_t end() const {
    return firstType() + types * 6 + letters + leaps * (width + 4) + standards + utcs;
  }
};

Result<Block> blockAt(std::string_view file, size_t at, size_t width) {
  if (file.size() < at + kHeader || file.substr(at, 4) != "TZif")
    return invalid("it is no time zone file");
  const auto count = [&](size_t i) {
    return static_cast<size_t>(static_cast<uint32_t>(bigEndian(file, at + 20 + i * 4, 4)));
  };
  const Block block{at + kHeader, width,    count(0), count(1),
                    count(2),     count(3), count(4), count(5)};
  // A count of four thousand million does not overflow a sum of 64 bits.
  if (block.end() > file.size() || block.types == 0)
    return invalid("the time zone file is cut short");
  return block;
}

Result<std::chrono::seconds> fixedOffset(std::string_view name) {
  const auto [hours, minutes, hasMinutes] = cut(name.substr(1), ':');
  const auto h = parseInt<int>(hours);
  const auto m = hasMinutes ? parseInt<int>(minutes) : std::optional(0);
  if (!h || !m || *h > 18 || *m > 59)
    return invalid("timezone '{}': want an offset such as +08:00", name);
  const int seconds = *h * 3600 + *m * 60;
  return std::chrono::seconds(name.front() == '-' ? -seconds : seconds);
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view bytes) {
  auto block = blockAt(bytes, 0, 4);
  if (block && bytes[4] >= '2') block = blockAt(bytes, block->end(), 8);  // with 64-bit times
  if (!block) return pass(block.error());
  const auto offsetOf = [&](size_t type) {
    return static_cast<int32_t>(bigEndian(bytes, block->firstType() + type * 6, 4));
  };
  TimeZone out;
  out.first_ = offsetOf(0);
  for (size_t i = 0; i < block->times; i++) {
    const auto type = static_cast<unsigned char>(bytes[block->indexes() + i]);
    if (type >= block->types) return invalid("the time zone file names a type it does not have");
    const int64_t at = bigEndian(bytes, block->data + i * block->width, block->width);
    out.changes_.push_back({at, offsetOf(type)});
  }
  return out;
}

Result<TimeZone> TimeZone::load(std::string_view name, const std::string& directory) {
  TimeZone out;
  if (name.empty() || name == "UTC" || name == "Z") return out;
  if (name.front() == '+' || name.front() == '-') {
    const auto offset = fixedOffset(name);
    if (!offset) return pass(offset.error());
    out.first_ = static_cast<int32_t>(offset->count());
    return out;
  }
  const bool safe = name.front() != '/' && name.find("..") == name.npos;
  auto bytes = safe ? readFile(directory + "/" + std::string(name))
                    : Result<std::string>(invalid("not a zone name"));
  if (!bytes)
    return invalid("timezone '{}' is unknown, want a name such as Asia/Shanghai, UTC or +08:00",
                   name);
  auto zone = parse(*bytes);
  if (!zone) return zone.error().in("timezone '{}'", name);
  return zone;
}

std::chrono::seconds TimeZone::offsetAt(WallTime time) const {
  const int64_t seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), seconds,
                                      [](int64_t s, const Change& c) { return s < c.at; });
  return std::chrono::seconds(after == changes_.begin() ? first_ : std::prev(after)->offset);
}

WallTime TimeZone::momentOf(WallTime local) const {
  const WallTime guess = local - offsetAt(local);
  return local - offsetAt(guess);
}

}  // namespace mangrove
