#include "apiserver/output/json_path.h"

#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

constexpr auto kObject = R"({
  "spec": {"size": 3, "on": true, "names": ["a", "b", "c"], "pair": {"x": 1, "y": 2}},
  "metadata": {"annotations": {"a.b/c": "dotted", "plain": "p"}},
  "status": {"conditions": [
    {"type": "Synced", "status": "False", "weight": 5},
    {"type": "Ready", "status": "True", "weight": 7, "extra": null}]}
})";

struct PathCase {
  const char* path;
  const char* want;  // what is found, as JSON, with blanks between; "" for nothing
};

constexpr PathCase kPathCases[] = {
    {".spec.size", "3"},
    {"spec.size", "3"},
    {"{.spec.size}", "3"},
    {"$.spec.size", "3"},
    {".spec.names[0]", R"("a")"},
    {".spec.names[-1]", R"("c")"},
    {".spec.names[3]", ""},
    {".spec.names[-4]", ""},
    {".spec.names[*]", R"("a" "b" "c")"},
    {".spec.pair.*", "1 2"},
    {".metadata.annotations['a.b/c']", R"("dotted")"},
    {R"(.metadata.annotations["a.b/c"])", R"("dotted")"},
    {R"(.metadata.annotations.a\.b/c)", R"("dotted")"},
    {R"(.status.conditions[?(@.type=="Ready")].status)", R"("True")"},
    {".status.conditions[?(@.type=='Ready')].status", R"("True")"},
    {R"(.status.conditions[?(@.type != "Ready")].status)", R"("False")"},
    {".status.conditions[?(@.weight==7)].type", R"("Ready")"},
    {R"(.status.conditions[?(@.weight=="7")].type)", ""},
    {".status.conditions[?(@.extra)].type", R"("Ready")"},
    {R"(.status.conditions[?(@.type=="Gone]")].status)", ""},
    {".spec.on", "true"},
    {".spec.size.deeper", ""},
    {".nothing.here", ""},
    {".status.conditions.type", ""},
};

TEST(JsonPath, FindsWhatColumnsAskFor) {
  json::Doc doc;
  const json::View object = *doc.parse(kObject);
  for (const auto& c : kPathCases) {
    auto path = JsonPath::parse(c.path);
    ASSERT_TRUE(path.has_value()) << c.path << ": " << path.error().text();
    std::string found;
    for (json::View view : path->all(object)) {
      if (!found.empty()) found += ' ';
      json::write(view, found);
    }
    EXPECT_EQ(found, c.want) << c.path;
    EXPECT_EQ(path->first(object).exists(), !found.empty()) << c.path;
  }
}

TEST(JsonPath, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {".spec..size", ".spec[", ".spec[x]", ".spec[?(type=='a')]", ".a."}) {
    auto path = JsonPath::parse(text);
    ASSERT_FALSE(path.has_value()) << text;
    EXPECT_NE(path.error().text().find(text), std::string::npos) << path.error().text();
  }
}

}  // namespace
}  // namespace mangrove::apiserver
