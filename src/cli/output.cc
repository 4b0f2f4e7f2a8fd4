#include "cli/output.h"

#include <cstdlib>

#include <fmt/core.h>
#include <unistd.h>

#include "json/yaml.h"

namespace mangrove::cli {
namespace {

std::string withNewline(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

void Output::declare(frame::Flags& flags) {
  const auto set = [this](std::string_view word) -> Result<> {
    if (word == "table")
      format_ = Format::kTable;
    else if (word == "json")
      format_ = Format::kJson;
    else if (word == "yaml")
      format_ = Format::kYaml;
    else
      return invalid("'{}': want table, json or yaml", word);
    return {};
  };
  flags.add("o", set, "table", "how to answer: table, json or yaml");
}

std::string Output::text(std::string_view json, std::string_view table) const {
  if (format_ == Format::kTable) return withNewline(std::string(table));
  if (format_ == Format::kJson) return withNewline(std::string(json));
  const auto value = json::parse(json);
  return value ? withNewline(json::writeYaml(*value)) : withNewline(std::string(json));
}

void Output::show(std::string_view json, std::string_view table) const {
  fmt::print("{}", text(json, table));
}

bool mayColour() {
  return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

std::string bold(std::string_view words, bool colour) {
  return colour ? fmt::format("\x1b[1m{}\x1b[0m", words) : std::string(words);
}

}  // namespace mangrove::cli
