// script_runner [--rewrite] DIR: runs every DIR/<driver>/**/*.txt conversation and compares the
// reactions. With --rewrite the files are given the reactions they got, to be reviewed as a diff.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/os/files.h"
#include "script_runner/drivers.h"
#include "script_runner/script.h"

namespace mangrove::scripts {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Driver> driverOf(const fs::path& file, const fs::path& root) {
  const std::string folder = fs::relative(file, root).begin()->string();
  for (const auto& info : drivers()) {
    if (info.folder == folder) return info.make();
  }
  return nullptr;
}

void showDifference(const fs::path& file, const Step& step, const std::string& got) {
  fmt::print("{}:{}: {}\n--- expected\n{}--- got\n{}\n", file.string(), step.line,
             step.commands.back(), step.expected, got);
}

Result<bool> runFile(const fs::path& file, const fs::path& root, bool rewrite) {
  auto driver = driverOf(file, root);
  if (!driver) return invalid("no driver stands for this folder");
  auto text = readFile(file.string());
  if (!text) return pass(text.error());
  auto steps = parseScript(*text);
  if (!steps) return pass(steps.error());
  std::vector<std::string> outputs;
  bool good = true;
  for (const auto& step : *steps) {
    outputs.push_back(step.commands.empty() ? "" : driver->run(step.commands));
    if (rewrite || outputs.back() == step.expected) continue;
    good = false;
    showDifference(file, step, outputs.back());
  }
  if (rewrite) {
    auto written = writeFileAtomically(file.string(), writeScript(*steps, outputs));
    if (!written) return pass(written.error());
  }
  return good;
}

std::vector<fs::path> scriptFiles(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(root, ec)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int runAll(const fs::path& root, bool rewrite) {
  size_t passed = 0;
  size_t failed = 0;
  for (const auto& file : scriptFiles(root)) {
    auto good = runFile(file, root, rewrite);
    if (!good) fmt::print("{}: {}\n", file.string(), good.error().text());
    ++(good && *good ? passed : failed);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace mangrove::scripts

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool rewrite = std::erase(words, "--rewrite") > 0;
  if (words.size() != 1) {
    fmt::print(stderr, "usage: script_runner [--rewrite] DIR (test/scripts)\n");
    return 2;
  }
  return mangrove::scripts::runAll(words[0], rewrite);
}
