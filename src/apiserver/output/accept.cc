#include "apiserver/output/accept.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "apiserver/protobuf/envelope.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Not a number counts as 1: the client wanted the range, only its weight is unreadable.
double qualityOf(std::string_view text) {
  double quality = 1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  return error == std::errc{} && end == text.data() + text.size() ? quality : 1;
}

MediaRange rangeOf(std::string_view text) {
  MediaRange range;
  bool first = true;
  for (std::string_view part : split(text, ';')) {
    part = trim(part);
    if (std::exchange(first, false)) {
      range.type = lower(part);
      continue;
    }
    const Halves pair = cut(part, '=');
    const std::string key = lower(trim(pair.before));
    const std::string_view value = unquoted(trim(pair.after));
    if (key == "q")
      range.quality = qualityOf(value);
    else if (!key.empty())
      range.parameters.emplace_back(key, value);
  }
  return range;
}

}  // namespace

std::string_view MediaRange::parameter(std::string_view key) const {
  for (const auto& [name, value] : parameters)
    if (name == key) return value;
  return {};
}

bool MediaRange::takesJson() const {
  return type == "application/json" || type == "application/*" || type == "*/*";
}

bool MediaRange::takesProtobuf() const {
  return type == protobuf::kMediaType;
}

std::vector<MediaRange> parseAccept(std::string_view accept) {
  if (trim(accept).empty()) accept = "*/*";
  std::vector<MediaRange> ranges;
  for (std::string_view text : split(accept, ',')) {
    MediaRange range = rangeOf(text);
    if (!range.type.empty() && range.quality > 0) ranges.push_back(std::move(range));
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const MediaRange& a, const MediaRange& b) { return a.quality > b.quality; });
  return ranges;
}

Answer notAcceptable(std::string_view offers) {
  return answer::status(406, "NotAcceptable",
                        fmt::format("only the following media types are accepted: {}", offers));
}

Outcome<> requireJson(std::string_view accept) {
  for (const MediaRange& range : parseAccept(accept))
    if (range.takesJson() && range.parameter("as").empty()) return {};
  return refuse(notAcceptable("application/json"));
}

Outcome<> requireObject(std::string_view accept) {
  for (const MediaRange& range : parseAccept(accept))
    if ((range.takesJson() || range.takesProtobuf()) && range.parameter("as").empty()) return {};
  return refuse(notAcceptable("application/json, application/vnd.kubernetes.protobuf"));
}

}  // namespace mangrove::apiserver
