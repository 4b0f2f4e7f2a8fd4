// mangrove check config: what is wrong with a slo-controller-config before anybody applies it.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/files.h"
#include "cli/command.h"
#include "frame/flags.h"
#include "manager/webhook/configmap/lint.h"

namespace mangrove::cli {
namespace {

struct Sum {
  size_t keys = 0, errors = 0, warnings = 0;
};

Result<> lintFile(const std::string& file, const manager::LintOptions& options, Sum& sum) {
  auto text = file == "-" ? readFile("/dev/stdin") : readFile(file);
  if (!text) return pass(text.error());
  auto lint = manager::lintConfig(*text, file == "-" ? "stdin" : file, options);
  if (!lint) return pass(lint.error());
  for (const manager::LintLine& line : lint->lines) fmt::print("{}\n", line.text());
  sum.keys += lint->keys.size();
  sum.errors += lint->errors;
  sum.warnings += lint->warnings;
  return {};
}

}  // namespace

int checkConfig(const std::vector<std::string>& args) {
  std::vector<std::string> files;
  manager::LintOptions options;
  frame::Flags flags("mangrove check config",
                     "says what is wrong with a slo-controller-config, as admission and the "
                     "manager would");
  flags.add(
      "f", files,
      "a ConfigMap as YAML, or the JSON of one key; - for standard input; may be given again");
  flags.add("key", options.key, "which key a bare JSON file is, e.g. colocation-config");
  flags.add("node-strategy-name-need-check", options.namesRequired,
            "node entries must have distinct names");
  auto go = flags.parse(args);
  if (!go || (*go && files.empty())) {
    fmt::print(stderr, "mangrove check config: {}\n",
               go ? "no file given; want -f FILE" : go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  Sum sum;
  for (const auto& file : files) {
    if (auto done = lintFile(file, options, sum); !done) {
      fmt::print(stderr, "mangrove check config: {}\n", done.error().text());
      return kFailed;
    }
  }
  fmt::print("keys: {}, errors: {}, warnings: {}\n", sum.keys, sum.errors, sum.warnings);
  return sum.errors == 0 ? 0 : kFailed;
}

}  // namespace mangrove::cli
