// Creates as a real API server answered them (test/recorded): the same verdict, the same fields
// complained about, the same object stored.
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

void expectSameAnswer(const json::Object& recorded) {
  json::Value object = recorded.at("object");
  const KindInfo& kind = kindOf(object);
  auto decoded = decode(kind, object);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  applyDefaults(kind, object);
  onCreate(kind, object);
  FieldErrors errors = validateCreate(kind, object);
  EXPECT_EQ(errors.empty(), recorded.at("accepted").as_bool()) << errors.text();
  if (const json::Value* fields = recorded.if_contains("fields")) {
    std::set<std::string> got, want;
    for (const FieldError& error : errors) got.insert(error.field);
    for (const json::Value& field : fields->as_array()) want.emplace(field.as_string());
    EXPECT_EQ(got, want) << errors.text();
  }
  if (const json::Value* stored = recorded.if_contains("stored")) {
    object.get_object()["metadata"].get_object().erase("namespace");
    EXPECT_EQ(json::writeSorted(object), json::writeSorted(*stored));
  }
}

TEST(Recorded, CreatesAreAnsweredAsByARealServer) {
  std::ifstream in(MANGROVE_SOURCE_DIR "/test/recorded/creates.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    auto recorded = json::parse(line);
    ASSERT_TRUE(recorded.has_value());
    SCOPED_TRACE(line.substr(0, 120));
    expectSameAnswer(recorded->as_object());
  }
  EXPECT_GE(count, 70u);
}

}  // namespace
}  // namespace mangrove::apiserver
