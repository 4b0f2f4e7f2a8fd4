#pragma once
// For tests of kinds: objects written in YAML, taken through the same steps as a write.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/kinds/object_rules.h"
#include "apiserver/schema/decoding.h"
#include "apiserver/schema/defaulting.h"
#include "base/text/strings.h"
#include "json/yaml.h"

namespace mangrove::apiserver::fixture {

inline json::Value yaml(std::string_view text) {
  auto value = json::parseYamlDocument(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().text());
  return value ? *value : json::Value();
}

inline const KindInfo& kindOf(const json::Value& object) {
  std::string apiVersion(object.at("apiVersion").as_string());
  std::string kind(object.at("kind").as_string());
  size_t slash = apiVersion.find('/');
  std::string group = slash == std::string::npos ? "" : apiVersion.substr(0, slash);
  std::string version = slash == std::string::npos ? apiVersion : apiVersion.substr(slash + 1);
  const KindInfo* found = catalogue().find(group, version, kind);
  EXPECT_NE(found, nullptr) << apiVersion << " " << kind;
  return *found;
}

// Decoded and with its defaults.
inline json::Value completed(std::string_view text) {
  json::Value object = yaml(text);
  const KindInfo& kind = kindOf(object);
  auto decoded = decode(kind, object);
  EXPECT_TRUE(decoded.has_value()) << (decoded ? "" : decoded.error().text());
  applyDefaults(kind, object);
  return object;
}

// Sets "a.b[0].c" to a YAML value, "<none>" takes it away; missing objects are made.
inline void put(json::Value& object, std::string_view path, std::string_view value) {
  json::Value* at = &object;
  std::vector<std::string_view> steps = split(path, '.');
  for (size_t i = 0; i < steps.size(); ++i) {
    Halves step = cut(steps[i], '[');
    if (!at->is_object()) *at = json::Object();
    if (i + 1 == steps.size() && value == "<none>" && !step.found) {
      at->get_object().erase(step.before);
      return;
    }
    at = &at->get_object()[step.before];
    if (step.found) at = &at->get_array().at(std::stoul(std::string(step.after)));
  }
  *at = yaml(value);
}

inline std::string createErrors(std::string_view text) {
  json::Value object = completed(text);
  FieldErrors errors = validateCreate(kindOf(object), object);
  return errors.empty() ? "" : errors.text();
}

// One change to a good object, and what the server must say ("" when it is fine).
struct Row {
  const char *path, *value, *want;
};

inline void expectSays(const FieldErrors& errors, const Row& row) {
  const std::string said = errors.empty() ? "" : errors.text();
  if (*row.want == '\0')
    EXPECT_EQ(said, "") << row.path;
  else
    EXPECT_THAT(said, ::testing::HasSubstr(row.want)) << row.path << " = " << row.value;
}

inline void expectRows(std::string_view base, std::span<const Row> rows) {
  for (const Row& row : rows) {
    json::Value object = yaml(base);
    put(object, row.path, row.value);
    const KindInfo& kind = kindOf(object);
    auto decoded = decode(kind, object);
    ASSERT_TRUE(decoded.has_value()) << row.path << ": " << decoded.error().text();
    EXPECT_TRUE(decoded->unknown.empty()) << row.path << ": " << decoded->unknown.front();
    applyDefaults(kind, object);
    expectSays(validateCreate(kind, object), row);
  }
}

}  // namespace mangrove::apiserver::fixture
