// The definitions of config/crd against the samples of test/crd-samples: what their comments say
// must be filled in, dropped or refused.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "apiserver/kinds/built_in_crds.h"
#include "apiserver/schema/crd_test_support.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

namespace fs = std::filesystem;

std::string readFile(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

using KindsByName = std::map<std::string, std::shared_ptr<const KindInfo>>;

const KindsByName& builtInKinds() {
  static const KindsByName kinds = [] {
    KindsByName out;
    for (const BuiltInCrd& crd : builtInCrds()) {
      auto made = customKinds(crd.read().as_object());
      EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().text());
      if (!made) continue;
      EXPECT_TRUE(made->warnings.empty()) << made->warnings.front();
      for (const auto& kind : made->kinds)
        out[kind->apiVersion() + " " + std::string(kind->kind)] = kind;
    }
    return out;
  }();
  return kinds;
}

std::vector<std::string> comments(const std::string& text, const std::string& word) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line) && line.starts_with('#');)
    if (line.starts_with("# " + word + ": ")) out.push_back(line.substr(word.size() + 4));
  return out;
}

struct Judged {
  json::Value object;
  std::vector<std::string> pruned;
  FieldErrors errors;
};

Judged judge(const fs::path& path) {
  Judged out{yaml(readFile(path)), {}, {}};
  std::string key = std::string(out.object.at("apiVersion").as_string()) + " " +
                    std::string(out.object.at("kind").as_string());
  auto found = builtInKinds().find(key);
  EXPECT_NE(found, builtInKinds().end()) << path << ": " << key;
  if (found == builtInKinds().end()) return out;
  auto decoded = decode(*found->second, out.object);
  EXPECT_TRUE(decoded.has_value()) << path << ": " << decoded.error().text();
  if (decoded) out.pruned = decoded->unknown;
  applyDefaults(*found->second, out.object);
  out.errors = validateCreate(*found->second, out.object);
  return out;
}

// Members without their nulls, to compare with what the author wrote.
json::Value withoutNulls(const json::Value& value) {
  if (value.is_array()) {
    json::Array out;
    for (const json::Value& one : value.get_array()) out.push_back(withoutNulls(one));
    return out;
  }
  if (!value.is_object()) return value;
  json::Object out;
  for (const auto& member : value.get_object())
    if (!member.value().is_null()) out[member.key()] = withoutNulls(member.value());
  return out;
}

TEST(CrdSamples, GoodOnesAreAcceptedAndCompletedAsTheySay) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(MANGROVE_SOURCE_DIR "/test/crd-samples/good")) {
    ++count;
    std::string text = readFile(entry.path());
    Judged judged = judge(entry.path());
    EXPECT_TRUE(judged.errors.empty()) << entry.path() << ": " << judged.errors.text();
    std::set<std::string> pruned(judged.pruned.begin(), judged.pruned.end());
    std::vector<std::string> expected = comments(text, "pruned");
    EXPECT_EQ(pruned, std::set<std::string>(expected.begin(), expected.end())) << entry.path();

    json::Value want = withoutNulls(yaml(text));
    for (const std::string& line : comments(text, "defaulted")) {
      size_t equals = line.find('=');
      put(want, line.substr(0, equals), line.substr(equals + 1));
    }
    for (const std::string& path : expected) put(want, path, "<none>");
    EXPECT_EQ(json::writeSorted(withoutNulls(judged.object)), json::writeSorted(want))
        << entry.path();
  }
  EXPECT_GE(count, 40u);
}

TEST(CrdSamples, BadOnesAreRefusedForTheirOneField) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(MANGROVE_SOURCE_DIR "/test/crd-samples/bad")) {
    ++count;
    Judged judged = judge(entry.path());
    std::vector<std::string> refused = comments(readFile(entry.path()), "refused");
    ASSERT_EQ(refused.size(), 1u) << entry.path();
    std::string field = refused[0].substr(0, refused[0].find(' '));
    std::set<std::string> complained;
    for (const FieldError& error : judged.errors) complained.insert(error.field);
    EXPECT_EQ(complained, std::set<std::string>{field})
        << entry.path() << ": " << (judged.errors.empty() ? "accepted" : judged.errors.text());
  }
  EXPECT_GE(count, 50u);
}

}  // namespace
}  // namespace mangrove::apiserver
