#include "placement/framework/args.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/nearest.h"
#include "base/text/time_text.h"

namespace mangrove::placement {

Args::Args(const json::Value& value, std::string where) : where_(std::move(where)) {
  if (value.is_object())
    object_ = &value.get_object();
  else if (!value.is_null())
    complain(fmt::format("found {}, want an object", json::write(value)));
}

const json::Value* Args::find(std::string_view key) const {
  const json::Value* value = object_ ? object_->if_contains(key) : nullptr;
  return value && !value->is_null() ? value : nullptr;
}

void Args::only(std::initializer_list<std::string_view> known) {
  if (!object_) return;
  std::vector<std::string_view> names(known);
  names.insert(names.end(), {"apiVersion", "kind"});
  for (const auto& member : *object_) {
    const std::string_view key = member.key();
    if (std::find(names.begin(), names.end(), key) == names.end())
      complain(fmt::format("unknown field '{}'{}", key, didYouMean(key, names)));
  }
}

void Args::complain(std::string sentence) {
  if (trouble_.empty()) trouble_ = fmt::format("{}: {}", where_, sentence);
}

void Args::wants(std::string_view key, std::string_view type) {
  complain(fmt::format("{}: found {}, want {}", key, json::write(*find(key)), type));
}

int64_t Args::integer(std::string_view key, int64_t fallback) {
  const json::Value* value = find(key);
  if (!value) return fallback;
  if (value->is_int64()) return value->get_int64();
  wants(key, "an integer");
  return fallback;
}

double Args::number(std::string_view key, double fallback) {
  const json::Value* value = find(key);
  if (!value) return fallback;
  if (value->is_number()) return value->to_number<double>();
  wants(key, "a number");
  return fallback;
}

bool Args::boolean(std::string_view key, bool fallback) {
  const json::Value* value = find(key);
  if (!value) return fallback;
  if (value->is_bool()) return value->get_bool();
  wants(key, "true or false");
  return fallback;
}

std::string Args::text(std::string_view key, std::string_view fallback) {
  const json::Value* value = find(key);
  if (!value) return std::string(fallback);
  if (value->is_string()) return std::string(value->get_string());
  wants(key, "a string");
  return std::string(fallback);
}

std::optional<Duration> Args::duration(std::string_view key) {
  const json::Value* value = find(key);
  if (!value) return std::nullopt;
  if (value->is_string())
    if (auto parsed = parseDuration(value->get_string())) return *parsed;
  wants(key, "a duration such as \"5m\"");
  return std::nullopt;
}

std::map<std::string, int64_t> Args::integers(std::string_view key) {
  std::map<std::string, int64_t> out;
  const json::Value* value = find(key);
  if (!value) return out;
  if (!value->is_object()) {
    wants(key, "an object of integers");
    return out;
  }
  for (const auto& member : value->get_object()) {
    if (member.value().is_int64())
      out[std::string(member.key())] = member.value().get_int64();
    else
      wants(key, "an object of integers");
  }
  return out;
}

std::vector<std::string> Args::texts(std::string_view key) {
  std::vector<std::string> out;
  for (const auto& entry : list(key)) {
    if (entry.is_string())
      out.emplace_back(entry.get_string());
    else
      wants(key, "a list of strings");
  }
  return out;
}

const json::Array& Args::list(std::string_view key) {
  static const json::Array kEmpty;
  const json::Value* value = find(key);
  if (!value) return kEmpty;
  if (value->is_array()) return value->get_array();
  wants(key, "a list");
  return kEmpty;
}

Args Args::object(std::string_view key) {
  static const json::Value kNothing;
  const json::Value* value = find(key);
  return Args(value ? *value : kNothing, fmt::format("{}.{}", where_, key));
}

void Args::take(const Args& part) {
  if (trouble_.empty()) trouble_ = part.trouble_;
}

Result<> Args::done() const {
  if (!trouble_.empty()) return invalid("{}", trouble_);
  return {};
}

}  // namespace mangrove::placement
