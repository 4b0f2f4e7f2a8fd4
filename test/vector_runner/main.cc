// vector_runner DIR: runs every *.json of DIR through the function its file name stands for, prints
// "file: passed/total" and each mismatch, and ends with "N passed, N failed". A file without a
// handler counts as one failure. "topic.own.json" holds cases of ours for a topic's handler.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/result.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

struct Tally {
  size_t passed = 0;
  size_t failed = 0;
};

Result<json::Value> load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(Code::kIo, "cannot read {}", file.string());
  auto parsed = json::parse(std::string((std::istreambuf_iterator<char>(in)), {}));
  if (!parsed) return parsed.error().in("{}", file.string());
  const bool shaped = parsed->is_object() && parsed->get_object().contains("cases") &&
                      parsed->at("cases").is_array();
  if (!shaped) return invalid("{}: no list 'cases' in the top object", file.string());
  return parsed;
}

const Handler* handlerOf(std::string_view topic) {
  auto all = handlers();
  auto found = std::find_if(all.begin(), all.end(), [&](auto& h) { return h.file == topic; });
  return found == all.end() ? nullptr : &*found;
}

bool runCase(const Handler& handler, const json::Value& vectorCase, const std::string& where) {
  Report report;
  if (vectorCase.is_object()) {
    handler.run(vectorCase.get_object(), report);
  } else {
    report.mismatch("case", "an object", json::write(vectorCase));
  }
  for (const auto& line : report.mismatches()) fmt::print("  {}: {}\n", where, line);
  if (!report.mismatches().empty()) {
    fmt::print("    case {}\n", json::write(vectorCase).substr(0, 400));
  }
  return report.mismatches().empty();
}

// What all cases of a file share stands at its top; each case gets it.
json::Value withFixtures(json::Value vectorCase, const json::Value& file) {
  const json::Value* shared = file.get_object().if_contains("fixtures");
  if (shared && vectorCase.is_object()) vectorCase.get_object().emplace("fixtures", *shared);
  return vectorCase;
}

Tally runFile(const std::filesystem::path& file) {
  std::string topic = file.stem().string();
  if (topic.ends_with(".own")) topic.resize(topic.size() - 4);
  const Handler* handler = handlerOf(topic);
  if (!handler) {
    fmt::print("{}: no handler stands for this name\n", file.filename().string());
    return {0, 1};
  }
  auto content = load(file);
  if (!content) {
    fmt::print("{}\n", content.error().text());
    return {0, 1};
  }
  Tally tally;
  const json::Array& cases = content->at("cases").get_array();
  for (size_t i = 0; i < cases.size(); ++i) {
    bool good =
        runCase(*handler, withFixtures(cases[i], *content), fmt::format("{}[{}]", topic, i));
    ++(good ? tally.passed : tally.failed);
  }
  fmt::print("{}: {}/{}\n", file.filename().string(), tally.passed, cases.size());
  return tally;
}

std::vector<std::filesystem::path> vectorFiles(const char* dir) {
  std::vector<std::filesystem::path> files;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(dir, ec)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int runAll(const char* dir) {
  Tally total;
  for (const auto& file : vectorFiles(dir)) {
    Tally one = runFile(file);
    total.passed += one.passed;
    total.failed += one.failed;
  }
  fmt::print("{} passed, {} failed\n", total.passed, total.failed);
  return total.failed == 0 && total.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace mangrove::vectors

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: vector_runner DIR (a folder with *.json vector files)\n");
    return 2;
  }
  return mangrove::vectors::runAll(argv[1]);
}
