// What a person is told when a replay decides otherwise.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "frame/record/replay.h"
#include "json/value.h"

namespace mangrove::frame::record {
namespace {

constexpr size_t kLongestValue = 200;

std::string shown(const json::Value* value) {
  std::string out = value ? json::write(*value) : "nothing";
  if (out.size() > kLongestValue) out = out.substr(0, kLongestValue) + "…";
  return out;
}

struct Spot {
  std::string path;
  const json::Value *recorded, *replayed;
};

std::optional<Spot> spotIn(const json::Value& a, const json::Value& b, const std::string& path);

std::optional<Spot> spotIn(const json::Object& a, const json::Object& b, const std::string& path) {
  for (const auto& member : a) {
    const std::string below = fmt::format("{}/{}", path, std::string_view(member.key()));
    const json::Value* other = b.if_contains(member.key());
    if (!other) return Spot{below, &member.value(), nullptr};
    if (auto found = spotIn(member.value(), *other, below)) return found;
  }
  for (const auto& member : b)
    if (!a.contains(member.key()))
      return Spot{fmt::format("{}/{}", path, std::string_view(member.key())), nullptr,
                  &member.value()};
  return std::nullopt;
}

std::optional<Spot> spotIn(const json::Array& a, const json::Array& b, const std::string& path) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); i++) {
    const std::string below = fmt::format("{}/{}", path, i);
    if (i >= a.size() || i >= b.size())
      return Spot{below, i < a.size() ? &a[i] : nullptr, i < b.size() ? &b[i] : nullptr};
    if (auto found = spotIn(a[i], b[i], below)) return found;
  }
  return std::nullopt;
}

std::optional<Spot> spotIn(const json::Value& a, const json::Value& b, const std::string& path) {
  if (a.is_object() && b.is_object()) return spotIn(a.get_object(), b.get_object(), path);
  if (a.is_array() && b.is_array()) return spotIn(a.get_array(), b.get_array(), path);
  if (a == b) return std::nullopt;
  return Spot{path.empty() ? "/" : path, &a, &b};
}

// Method and target, kind of patch, body.
struct Parts {
  std::string_view line, type, body;
};
Parts partsOf(std::string_view text) {
  Parts out;
  const size_t first = text.find('\n');
  out.line = text.substr(0, first);
  if (first == std::string_view::npos) return out;
  const size_t second = text.find('\n', first + 1);
  out.type = text.substr(first + 1, second - first - 1);
  if (second != std::string_view::npos) out.body = text.substr(second + 1);
  return out;
}

}  // namespace

std::string whereTheyDiffer(std::string_view recorded, std::string_view replayed) {
  if (recorded.empty()) return "nothing was decided then";
  if (replayed.empty()) return "nothing is decided now";
  const Parts then = partsOf(recorded), now = partsOf(replayed);
  if (then.line != now.line) return "another request";
  if (then.type != now.type)
    return fmt::format("{} was recorded, {} is decided now", then.type, now.type);
  const auto a = json::parse(then.body), b = json::parse(now.body);
  if (a && b)
    if (const auto spot = spotIn(*a, *b, ""))
      return fmt::format("{}: {} was recorded, {} is decided now", spot->path,
                         shown(spot->recorded), shown(spot->replayed));
  size_t same = 0;
  while (same < then.body.size() && same < now.body.size() && then.body[same] == now.body[same])
    same++;
  return fmt::format("the bodies differ from byte {} on", same);
}

std::string Difference::text() const {
  return fmt::format("session {}, turn {}, {}: after {}\n  recorded: {}\n  now:      {}\n  {}\n",
                     session, turn, formatTime(at), cause, recorded.empty() ? "nothing" : recorded,
                     replayed.empty() ? "nothing" : replayed, where);
}

}  // namespace mangrove::frame::record
