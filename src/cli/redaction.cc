#include "cli/redaction.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "api/wire/names.h"

namespace mangrove::cli {
namespace {

// Members that say nothing to a reader, or the same once more.
constexpr std::array<std::string_view, 2> kDropped = {"managedFields",
                                                      api::annotation::kLastApplied};
constexpr std::array<std::string_view, 5> kSecret = {"token", "password", "secret", "credential",
                                                     "apikey"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool namesASecret(std::string_view name) {
  const std::string small = lower(name);
  return std::any_of(kSecret.begin(), kSecret.end(),
                     [&](std::string_view word) { return small.find(word) != std::string::npos; });
}

// "--token=abc" -> "--token=(redacted)"; a flag that only names a file keeps its value.
std::string redactedText(std::string_view text) {
  if (text.find("-----BEGIN") != text.npos) return std::string(kRedacted);
  const size_t equals = text.find('=');
  const bool flag = text.starts_with('-') && equals != text.npos;
  if (!flag || !namesASecret(text.substr(0, equals)) || text.substr(equals + 1).starts_with('/'))
    return std::string(text);
  return std::string(text.substr(0, equals + 1)) + std::string(kRedacted);
}

json::Value walked(const json::Value& value, std::string_view under);

json::Object walkedObject(const json::Object& object, std::string_view under) {
  json::Object out;
  for (const auto& member : object) {
    const std::string_view key = member.key();
    if (std::find(kDropped.begin(), kDropped.end(), key) != kDropped.end()) continue;
    const bool hidden = (under == "env" && key == "value") || key == "caBundle" ||
                        (member.value().is_string() && namesASecret(key) && key != "secretName");
    out[key] = hidden ? json::Value(kRedacted) : walked(member.value(), key);
  }
  return out;
}

// `under` is the name of the list or member that holds the value.
json::Value walked(const json::Value& value, std::string_view under) {
  if (value.is_object()) return walkedObject(value.get_object(), under);
  if (value.is_string()) return json::Value(redactedText(value.get_string()));
  if (!value.is_array()) return value;
  json::Array out;
  bool hideNext = false;  // "--token", "abc"
  for (const auto& one : value.get_array()) {
    out.push_back(hideNext ? json::Value(kRedacted) : walked(one, under));
    const std::string_view text = one.is_string() ? std::string_view(one.get_string()) : "";
    hideNext = text.starts_with('-') && text.find('=') == text.npos && namesASecret(text);
  }
  return out;
}

}  // namespace

json::Value redacted(const json::Value& object) {
  return walked(object, "");
}

}  // namespace mangrove::cli
