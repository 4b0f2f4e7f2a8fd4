#include "apiserver/kinds/names.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/select/label_syntax.h"

namespace mangrove::apiserver {
namespace {

bool isLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLetter(char c) {
  return isLower(c) || (c >= 'A' && c <= 'Z');
}
bool onlyPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}
std::string atMost(size_t bytes) {
  return fmt::format("must be no more than {} bytes", bytes);
}

}  // namespace

std::string subdomainTrouble(std::string_view name) {
  if (name.size() > api::kMaxDnsSubdomain) return atMost(api::kMaxDnsSubdomain);
  if (api::isDnsSubdomain(name)) return "";
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
         "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
         "used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

std::string labelTrouble(std::string_view name) {
  if (name.size() > api::kMaxLabelName) return atMost(api::kMaxLabelName);
  if (api::isDnsLabel(name)) return "";
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
         "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
         "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

std::string label1035Trouble(std::string_view name) {
  if (name.size() > api::kMaxLabelName) return atMost(api::kMaxLabelName);
  if (api::isDnsLabel(name) && isLower(name.front())) return "";
  return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
         "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
         "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
}

std::string pathSegmentTrouble(std::string_view name) {
  if (name == "." || name == "..") return fmt::format("may not be '{}'", name);
  for (char c : {'/', '%'})
    if (name.find(c) != std::string_view::npos) return fmt::format("may not contain '{}'", c);
  return "";
}

std::string portNameTrouble(std::string_view name) {
  if (name.size() > 15) return atMost(15);
  bool good = !name.empty() && name.front() != '-' && name.back() != '-' &&
              name.find("--") == std::string_view::npos &&
              std::any_of(name.begin(), name.end(), isLower) &&
              std::all_of(name.begin(), name.end(),
                          [](char c) { return isLower(c) || isDigit(c) || c == '-'; });
  if (good) return "";
  return "must consist of lower case letters, digits and single '-' between them, with at least "
         "one letter (e.g. 'http')";
}

std::string configKeyTrouble(std::string_view key) {
  if (key.size() > api::kMaxDnsSubdomain) return atMost(api::kMaxDnsSubdomain);
  if (key == "." || key.starts_with("..")) return "must not be '.' or start with '..'";
  bool good = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return isLetter(c) || isDigit(c) || c == '-' || c == '_' || c == '.';
  });
  if (good) return "";
  return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
         "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
         "'[-._a-zA-Z0-9]+')";
}

std::string variableTrouble(std::string_view name) {
  bool good = !name.empty() && onlyPrintable(name) && name.find('=') == std::string_view::npos;
  if (good) return "";
  return "a valid environment variable name must consist only of printable ASCII characters other "
         "than '='";
}

namespace {

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace

// The rule itself is api's; the sentence is the one people know from Kubernetes.
std::string qualifiedTrouble(std::string_view key) {
  if (api::labelKeyTrouble(key).empty()) return "";
  const size_t slash = key.find('/');
  const bool hasPrefix = slash != std::string_view::npos;
  const std::string_view name = hasPrefix ? key.substr(slash + 1) : key;
  if (name.find('/') != std::string_view::npos)
    return fmt::format(
        "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyName')",
        kNameRule);
  if (hasPrefix && slash == 0) return "prefix part must be non-empty";
  if (hasPrefix)
    if (auto trouble = subdomainTrouble(key.substr(0, slash)); !trouble.empty())
      return "prefix part " + trouble;
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > api::kMaxLabelName) return "name part " + atMost(api::kMaxLabelName);
  return fmt::format("name part {}", kNameRule);
}

std::string labelValueTrouble(std::string_view value) {
  if (api::labelValueTrouble(value).empty()) return "";
  if (value.size() > api::kMaxLabelName) return atMost(api::kMaxLabelName);
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
         "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
         "'my_value',  or '12345', regex used for validation is "
         "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

std::string pathInVolumeTrouble(std::string_view path) {
  if (path.starts_with('/')) return "must be a relative path";
  for (size_t start = 0; start <= path.size();) {
    size_t end = std::min(path.find('/', start), path.size());
    if (path.substr(start, end - start) == "..") return "must not contain '..'";
    start = end + 1;
  }
  return "";
}

std::string nameTrouble(NameRule rule, std::string_view name) {
  switch (rule) {
    case NameRule::kLabel:
      return labelTrouble(name);
    case NameRule::kLabel1035:
      return label1035Trouble(name);
    case NameRule::kPathSegment:
      return pathSegmentTrouble(name);
    case NameRule::kSubdomain:
      break;
  }
  return subdomainTrouble(name);
}

std::string prefixTrouble(NameRule rule, std::string_view prefix) {
  if (prefix.size() > 1 && (prefix.back() == '-' || prefix.back() == '.')) {
    std::string whole(prefix);
    whole.back() = 'a';
    return nameTrouble(rule, whole);
  }
  return nameTrouble(rule, prefix);
}

}  // namespace mangrove::apiserver
