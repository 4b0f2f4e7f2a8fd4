#include "manager/config/finding.h"

#include <algorithm>

#include <fmt/core.h>

#include "json/text_position.h"
#include "manager/config/locate.h"

namespace mangrove::manager {

std::string_view findingKindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kSyntax:
      return "syntax";
    case FindingKind::kSelector:
      return "selector";
    case FindingKind::kRange:
      return "range";
    case FindingKind::kUnknown:
      return "unknown";
  }
  return "";
}

std::string Finding::note() const {
  std::string out = key;
  if (line > 0) out += fmt::format(" line {}, column {}", line, column);
  if (!path.empty()) out += fmt::format(": {}", path);
  return out + ": " + message;
}

std::string Finding::text() const {
  return note() + excerpt;
}

bool hasErrors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Severity::kError; });
}

void FindingsAbout::add(Severity severity, FindingKind kind, std::string path,
                        std::string message) {
  addAt(severity, kind, locate(text_, path), std::move(message));
  findings_.back().path = std::move(path);
}

void FindingsAbout::addAt(Severity severity, FindingKind kind, size_t offset, std::string message) {
  Finding finding{severity, kind, std::string(key_), "", std::move(message), 0, 0, ""};
  const auto place = json::positionOf(text_, offset);
  finding.line = place.line;
  finding.column = place.column;
  finding.excerpt = json::excerpt(text_, offset);
  findings_.push_back(std::move(finding));
}

}  // namespace mangrove::manager
