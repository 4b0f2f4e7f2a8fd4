#include "manager/controllers/timepolicy/time_zone.h"

#include <algorithm>

#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

constexpr size_t kHeader = 44;

// Big-endian numbers of a TZif block; reading past the end gives 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  int64_t number(size_t at, size_t width) const {
    if (at + width > bytes_.size()) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    if (width == 4) return static_cast<int32_t>(value);
    return static_cast<int64_t>(value);
  }
  uint8_t byte(size_t at) const {
    return at < bytes_.size() ? static_cast<uint8_t>(bytes_[at]) : 0;
  }

 private:
  std::string_view bytes_;
};

// The counts in a header: isut, isstd, leap, time, type, char.
struct Counts {
  size_t isut, isstd, leap, time, type, chars;
  size_t size(size_t width) const {
    return time * width + time + type * 6 + chars + leap * (width + 4) + isstd + isut;
  }
};

Counts countsAt(const Reader& reader, size_t at) {
  const auto count = [&](size_t i) {
    return static_cast<size_t>(std::max<int64_t>(0, reader.number(at + 20 + i * 4, 4)));
  };
  return {count(0), count(1), count(2), count(3), count(4), count(5)};
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
  if (!bytes.starts_with("TZif") || bytes.size() < kHeader) return invalid("no TZif file");
  const Reader reader(bytes);
  size_t at = 0, width = 4;
  Counts counts = countsAt(reader, 0);
  if (bytes[4] >= '2') {  // the second block has 64-bit times
    at = kHeader + counts.size(4);
    width = 8;
    counts = countsAt(reader, at);
  }
  const size_t times = at + kHeader, indexes = times + counts.time * width;
  const size_t types = indexes + counts.time;
  if (counts.type == 0 || types + counts.type * 6 > bytes.size())
    return invalid("a damaged TZif file");
  const auto offsetOf = [&](size_t type) {
    return static_cast<int32_t>(reader.number(types + type * 6, 4));
  };
  TimeZone out;
  out.first_ = offsetOf(0);
  for (size_t i = 0; i < counts.time; i++)
    out.changes_.push_back(
        {reader.number(times + i * width, width), offsetOf(reader.byte(indexes + i))});
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

}  // namespace mangrove::manager
