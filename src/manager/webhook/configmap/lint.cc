#include "manager/webhook/configmap/lint.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/object/core_objects.h"
#include "base/text/strings.h"
#include "json/yaml.h"
#include "manager/config/rules.h"
#include "manager/webhook/configmap/overlap.h"
#include "manager/webhook/configmap/validate.h"

namespace mangrove::manager {
namespace {

// Where the value of a key stands in the file.
struct Origin {
  size_t lineBefore = 0;    // lines of the file above the value's first one
  size_t columnBefore = 0;  // blanks in front of its lines
  bool known = false;
};

size_t indentOf(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool opensBlock(std::string_view line, std::string_view key) {
  std::string_view rest = trim(line);
  if (rest.starts_with('"')) rest.remove_prefix(1);
  if (!rest.starts_with(key)) return false;
  rest.remove_prefix(key.size());
  if (rest.starts_with('"')) rest.remove_prefix(1);
  rest = trim(rest);
  if (!rest.starts_with(':')) return false;
  rest = trim(rest.substr(1));
  return rest.starts_with('|') || rest.starts_with('>');
}

// Values of ConfigMaps are literal blocks almost always; for others the place in the value is told.
Origin originOf(std::string_view file, std::string_view key) {
  const auto lines = split(file, '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!opensBlock(lines[i], key)) continue;
    size_t first = i + 1;
    while (first < lines.size() && trim(lines[first]).empty()) ++first;
    if (first == lines.size()) return {};
    return {i + 1, indentOf(lines[first]), true};
  }
  return {};
}

bool isUnreadable(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.kind == FindingKind::kSyntax; });
}

class Linter {
 public:
  Linter(std::string_view text, std::string_view file, const LintOptions& options)
      : text_(text), file_(file), options_(options) {}

  void checkMap(const ConfigData& data) {
    for (const auto& [key, value] : data) check(key, data, originOf(text_, key));
  }
  void check(const std::string& key, const ConfigData& data, const Origin& origin) {
    out_.keys.push_back(key);
    const bool known = rulesOf(key) != nullptr;
    Findings findings =
        known ? adviceOn(key, data, options_.namesRequired) : checkKey(key, data.at(key));
    const bool readable = known && !isUnreadable(findings);
    for (Finding& finding : findings) add(std::move(finding), key, origin);
    if (!readable) return;
    const auto names = overlapping(entriesOf(key, data.at(key)));
    if (names.empty()) return;
    Finding overlap;
    overlap.message = fmt::format("the entries {} match the same nodes", join(names, " and "));
    add(std::move(overlap), key, {});
  }
  Lint take() { return std::move(out_); }

 private:
  void add(Finding finding, const std::string& key, const Origin& origin) {
    LintLine line;
    line.file = file_;
    line.severity = finding.severity;
    line.key = key;
    line.message = finding.path.empty() ? finding.message
                                        : fmt::format("{}: {}", finding.path, finding.message);
    line.excerpt = finding.excerpt;
    if (finding.line > 0 && origin.known) {
      line.line = finding.line + origin.lineBefore;
      line.column = finding.column + origin.columnBefore;
    } else if (finding.line > 0) {
      line.message = fmt::format("line {}, column {} of the value: {}", finding.line,
                                 finding.column, line.message);
    }
    ++(line.severity == Severity::kError ? out_.errors : out_.warnings);
    out_.lines.push_back(std::move(line));
  }

  std::string_view text_;
  std::string file_;
  const LintOptions& options_;
  Lint out_;
};

// How little a text looks like a key: members nobody reads, those at the top above all.
size_t strangeness(const Findings& findings) {
  constexpr size_t kTop = 10;
  size_t out = 0;
  for (const Finding& finding : findings)
    if (finding.kind == FindingKind::kUnknown)
      out += finding.path.find_first_of(".[") == std::string::npos ? kTop : 1;
  return out;
}

// The key whose members the text knows best.
std::string keyByMembers(std::string_view text) {
  std::string best;
  size_t fewest = ~size_t{0};
  for (std::string_view key : knownKeys()) {
    const Findings findings = checkKey(key, text);
    if (isUnreadable(findings) || strangeness(findings) >= fewest) continue;
    fewest = strangeness(findings);
    best = key;
  }
  return best;
}

Result<std::string> keyOf(std::string_view text, std::string_view file, const std::string& given) {
  if (!given.empty()) {
    if (rulesOf(given) == nullptr)
      return invalid("'{}' is no key of slo-controller-config; want one of {}", given,
                     join(knownKeys(), ", "));
    return given;
  }
  for (std::string_view key : knownKeys())
    if (file.find(key) != file.npos) return std::string(key);
  std::string found = keyByMembers(text);
  if (found.empty())
    return invalid(
        "{}: no key of slo-controller-config looks like this; say which is meant with "
        "--key",
        file);
  return found;
}

const json::Value* memberOf(const json::Value& value, std::string_view key) {
  return value.is_object() ? value.get_object().if_contains(key) : nullptr;
}

bool isConfigMap(const json::Value& value) {
  const json::Value* kind = memberOf(value, "kind");
  return kind != nullptr && kind->is_string() && kind->get_string() == "ConfigMap";
}

// Why there is nothing to look at, when the text is not even meant as the JSON of a key.
Result<> checkKindOfFile(std::string_view text, std::string_view file,
                         const Result<std::vector<json::YamlDocument>>& documents) {
  constexpr std::string_view kWanted = "want a ConfigMap as YAML, or the JSON of one of its keys";
  const std::string_view content = trim(text);
  if (content.empty()) return invalid("{} is empty; {}", file, kWanted);
  const bool isJson = content.starts_with('{') && content.find("\"kind\"") == content.npos;
  if (!documents && !isJson) return pass(documents.error());
  for (size_t i = 0; documents && i < documents->size(); ++i)
    if (const json::Value* kind = memberOf((*documents)[i].value, "kind"))
      return invalid("{}:{}: {} is no ConfigMap; {}", file, (*documents)[i].line,
                     json::write(*kind), kWanted);
  return {};
}

}  // namespace

std::string LintLine::text() const {
  const std::string place = line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
  return fmt::format("{}: {}: {}: {}{}", place, severity == Severity::kError ? "error" : "warning",
                     key, message, excerpt);
}

Result<Lint> lintConfig(std::string_view text, std::string_view file, const LintOptions& options) {
  Linter linter(text, file, options);
  auto documents = json::parseYaml(text, file);
  bool found = false;
  if (documents)
    for (const auto& [value, line] : *documents) {
      if (!isConfigMap(value)) continue;
      auto map = api::decodeText<api::ConfigMap>(json::write(value));
      if (!map) return map.error().in("{}:{}", file, line);
      linter.checkMap(map->data);
      found = true;
    }
  if (found) return linter.take();
  if (auto ok = checkKindOfFile(text, file, documents); !ok && options.key.empty())
    return pass(ok.error());
  auto key = keyOf(text, file, options.key);
  if (!key) return pass(key.error());
  linter.check(*key, {{*key, std::string(text)}}, {0, 0, true});
  return linter.take();
}

}  // namespace mangrove::manager
