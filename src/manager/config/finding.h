#pragma once
// What reading a configuration brings to light: one sentence per trouble, with its place in the
// text. The controllers turn findings into Events, admission into refusals, `mangrove check config`
// into lines with a caret.
//
//   for (const Finding& f : parseColocation(text).findings)
//     fmt::print("{}\n", f.text());     // "colocation-config line 4, column 9: …" + line + caret
//
// Values; any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::manager {

enum class Severity { kWarning, kError };

enum class FindingKind {
  kSyntax,    // no JSON, or a value of the wrong type: the whole key cannot be read
  kSelector,  // a node entry without a usable nodeSelector
  kRange,     // a value outside its range, or an upper bound below its lower one
  kUnknown,   // a member or a word that nobody reads; never an error
};
std::string_view findingKindName(FindingKind kind);  // "syntax", "selector", "range", "unknown"

struct Finding {
  Severity severity = Severity::kError;
  FindingKind kind = FindingKind::kSyntax;
  std::string key;      // of the ConfigMap: "system-config"
  std::string path;     // in the JSON: "nodeStrategies[0].enable"; "" is the whole text
  std::string message;  // one sentence, without place
  size_t line = 0;      // from 1; 0: no place
  size_t column = 0;
  std::string excerpt;  // the line and a caret, each starting with a newline; may be ""

  // "<key> line L, column C: <path>: <message>" and the excerpt.
  std::string text() const;
  // The same on one line, for Events.
  std::string note() const;
};
using Findings = std::vector<Finding>;

bool hasErrors(const Findings& findings);

// Makes findings about one text. `text` must outlive it.
class FindingsAbout {
 public:
  FindingsAbout(std::string_view key, std::string_view text) : key_(key), text_(text) {}

  // At the value of that path, or at the nearest part of it that is there.
  void add(Severity severity, FindingKind kind, std::string path, std::string message);
  void addAt(Severity severity, FindingKind kind, size_t offset, std::string message);
  Findings take() { return std::move(findings_); }
  const Findings& findings() const { return findings_; }

 private:
  std::string_view key_;
  std::string_view text_;
  Findings findings_;
};

}  // namespace mangrove::manager
