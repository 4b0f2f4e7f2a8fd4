// mangrove check config: what is wrong with a slo-controller-config before anybody applies it.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/os/files.h"
#include "cli/command.h"
#include "cli/config_verdict.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "manager/webhook/configmap/lint.h"

namespace mangrove::cli {
namespace {

Result<manager::Lint> lintFile(const std::string& file, const manager::LintOptions& options) {
  auto text = file == "-" ? readFile("/dev/stdin") : readFile(file);
  if (!text) return pass(text.error());
  return manager::lintConfig(*text, file == "-" ? "stdin" : file, options);
}

}  // namespace

int checkConfig(const std::vector<std::string>& args) {
  std::vector<std::string> files;
  manager::LintOptions options;
  Output output;
  frame::Flags flags("mangrove check config",
                     "says what is wrong with a slo-controller-config, as admission and the "
                     "manager would");
  flags.add(
      "f", files,
      "a ConfigMap as YAML, or the JSON of one key; - for standard input; may be given again");
  flags.add("key", options.key, "which key a bare JSON file is, e.g. colocation-config");
  flags.add("node-strategy-name-need-check", options.namesRequired,
            "node entries must have distinct names");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (files.empty())
    return complain(flags, Error(Code::kInvalid, "no file given; want -f FILE"), kWrongUsage);
  manager::Lint all;
  for (const auto& file : files) {
    auto lint = lintFile(file, options);
    if (!lint) return complain(flags, lint.error());
    addTo(all, std::move(*lint));
  }
  return say(configVerdict(all), output);
}

}  // namespace mangrove::cli
