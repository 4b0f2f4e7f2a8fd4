#include "apiserver/core/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

using ::testing::HasSubstr;

ResourcePtr configMaps(bool custom = false) {
  static const Resources all;
  auto copy = std::make_shared<Resource>(*all.find("", "v1", "configmaps"));
  auto kind = std::make_shared<KindInfo>(*copy->kind);
  kind->isCustom = custom;
  copy->kind = kind;
  return copy;
}

Call sent(std::string_view contentType, std::string body, const char* query = "") {
  Call call;
  call.info = *parseRequest("POST", std::string("/api/v1/namespaces/a/configmaps") + query);
  call.contentType = contentType;
  call.body = std::move(body);
  return call;
}

std::string inProtobuf(const char* text) {
  json::Doc doc;
  return *protobuf::toProtobuf(*doc.parse(text));
}

constexpr const char* kObject =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})";

TEST(Body, IsTheSameInEveryFormat) {
  const Call kCalls[] = {
      sent("application/json", kObject), sent("", kObject), sent("application/yaml", kObject),
      sent(protobuf::kMediaType, inProtobuf(kObject)),
      sent(protobuf::kMediaType, inProtobuf(kObject), "?fieldValidation=Strict")};
  for (const Call& call : kCalls) {
    std::vector<std::string> warnings;
    auto object = readObject(call, *configMaps(), warnings);
    ASSERT_TRUE(object.has_value()) << object.error().body;
    EXPECT_EQ(json::write(*object), kObject) << call.contentType;
    EXPECT_TRUE(warnings.empty());
  }
}

TEST(Body, RefusesWithTheRightStatus) {
  struct Row {
    Call call;
    bool custom;
    int status;
    const char* want;
  };
  const Row kRows[] = {
      {sent("application/cbor", "x"), false, 415, "application/cbor"},
      {sent("text/plain", "x"), false, 415, "application/vnd.kubernetes.protobuf"},
      {sent(protobuf::kMediaType, inProtobuf(kObject)), true, 415, "not understood"},
      {sent(protobuf::kMediaType, kObject), false, 400, "want the bytes 'k8s'"},
      {sent(protobuf::kMediaType, ""), false, 400, "no body"},
      {sent(protobuf::kMediaType, inProtobuf(R"({"apiVersion":"v1","kind":"Secret"})")), false, 400,
       "Secret"},
  };
  for (const Row& row : kRows) {
    std::vector<std::string> warnings;
    auto object = readObject(row.call, *configMaps(row.custom), warnings);
    ASSERT_FALSE(object.has_value()) << row.want;
    EXPECT_EQ(object.error().status, row.status) << object.error().body;
    EXPECT_THAT(object.error().body, HasSubstr(row.want));
  }
}

TEST(Body, HasNotMoreElementsThanCanBeJudged) {
  const auto withOwners = [](size_t count) {
    json::Object metadata{{"name", "a"}, {"ownerReferences", json::Array(count, json::Object())}};
    return json::Value(json::Object{{"metadata", std::move(metadata)}});
  };
  std::vector<std::string> warnings;
  for (auto [count, good] : {std::pair(50'000, true), std::pair(50'001, false)}) {
    json::Value object = withOwners(static_cast<size_t>(count));
    auto ok = normalise(sent("", "").info, *configMaps(), object, warnings);
    EXPECT_EQ(ok.has_value(), good) << count;
    EXPECT_TRUE(ok || ok.error().status == 413) << ok.error().body;
  }
}

}  // namespace
}  // namespace mangrove::apiserver
