#pragma once
// The same judgement as admission and the live reload, for a file on disk: a ConfigMap as YAML, or
// the bare JSON of one key. Places are those of the file, not of the value inside.
//
//   auto lint = lintConfig(text, "slo.yaml", {});
//   for (const LintLine& line : lint->lines) fmt::print("{}\n", line.text());
//   // slo.yaml:14:9: error: system-config: want ',' or '}' after a member, found '"'
//
// Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manager/config/finding.h"

namespace mangrove::manager {

struct LintLine {
  std::string file;
  size_t line = 0, column = 0;  // in the file; 0: no place
  Severity severity = Severity::kError;
  std::string key;
  std::string message;
  std::string excerpt;

  std::string text() const;
};

struct Lint {
  std::vector<std::string> keys;  // that were looked at
  std::vector<LintLine> lines;
  size_t errors = 0, warnings = 0;
};

struct LintOptions {
  std::string key = {};  // of a bare JSON file; "": found by its file name or by its members
  bool namesRequired = false;
};

// Fails when the text is neither a ConfigMap nor the JSON of a known key.
Result<Lint> lintConfig(std::string_view text, std::string_view file, const LintOptions& options);

}  // namespace mangrove::manager
