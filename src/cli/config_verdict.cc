#include "cli/config_verdict.h"

#include <fmt/format.h>

namespace mangrove::cli {

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

void addTo(manager::Lint& all, manager::Lint more) {
  all.keys.insert(all.keys.end(), more.keys.begin(), more.keys.end());
  all.lines.insert(all.lines.end(), more.lines.begin(), more.lines.end());
  all.errors += more.errors;
  all.warnings += more.warnings;
}

Told configVerdict(const manager::Lint& lint) {
  const std::string keys = counted(lint.keys.size(), "key", "keys");
  const std::string found = fmt::format("{}, {}", counted(lint.errors, "error", "errors"),
                                        counted(lint.warnings, "warning", "warnings"));
  Told told{.answer = lint.errors > 0     ? fmt::format("not acceptable: {} in {}", found, keys)
                      : lint.warnings > 0 ? fmt::format("acceptable, with {} in {}", found, keys)
                                          : fmt::format("good: {} in {}", found, keys),
            .good = lint.errors == 0,
            .terms = {},
            .todo = {},
            .data = {}};
  json::Array findings;
  for (const auto& line : lint.lines) {
    told.terms += line.text() + "\n";
    const bool error = line.severity == manager::Severity::kError;
    findings.push_back(json::Object{{"severity", error ? "error" : "warning"},
                                    {"file", line.file},
                                    {"line", line.line},
                                    {"column", line.column},
                                    {"key", line.key},
                                    {"message", line.message}});
  }
  if (lint.errors > 0)
    told.todo.emplace_back(
        "correct the errors before applying it: admission refuses it, and a manager that finds it "
        "keeps the last good value of that key");
  if (lint.warnings > 0)
    told.todo.emplace_back("look at the warnings: what nobody reads has no effect");
  told.data = {{"keys", lint.keys.size()},
               {"errors", lint.errors},
               {"warnings", lint.warnings},
               {"findings", std::move(findings)}};
  return told;
}

}  // namespace mangrove::cli
