#pragma once
// How a command answers: -o table, json or yaml, the same for all of them, and colour for people at
// a terminal only.
//
//   Output output;
//   output.declare(flags);
//   output.show(toJson(result), toTable(result));
//
// Used by one command, on one thread.

#include <string>
#include <string_view>

#include "frame/flags.h"
#include "json/value.h"

namespace mangrove::cli {

enum class Format { kTable, kJson, kYaml };

class Output {
 public:
  void declare(frame::Flags& flags);
  bool isTable() const { return format_ == Format::kTable; }
  void set(Format format) { format_ = format; }
  // One of the two; the JSON as it is, or as YAML.
  std::string text(std::string_view json, std::string_view table) const;
  void show(std::string_view json, std::string_view table) const;

 private:
  Format format_ = Format::kTable;
};

// Whether standard output is a terminal and nobody asked for plain text (NO_COLOR).
bool mayColour();
// The words in bold where that is allowed; what they say never depends on it.
std::string bold(std::string_view words, bool colour);

}  // namespace mangrove::cli
