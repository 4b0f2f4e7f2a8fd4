#include <gtest/gtest.h>

#include "apiserver/output/accept.h"
#include "apiserver/output/encode.h"

namespace mangrove::apiserver {
namespace {

const KindInfo& pods() {
  return *catalogue().find("", "v1", "Pod");
}

struct AcceptCase {
  const char* accept;
  const char* want;  // "whole", "table v1", "metadata v1beta1", or "406"
};

constexpr AcceptCase kAcceptCases[] = {
    {"", "whole"},
    {"*/*", "whole"},
    {"application/json", "whole"},
    {"application/*", "whole"},
    {"Application/JSON; charset=utf-8", "whole"},
    {"application/json;stream=watch", "whole"},
    // kubectl get
    {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s."
     "io,application/json",
     "table v1"},
    {"application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json", "table v1beta1"},
    // client-go, typed and metadata-only
    {"application/vnd.kubernetes.protobuf,application/json", "protobuf whole"},
    {"application/vnd.kubernetes.protobuf, */*", "protobuf whole"},
    {"application/json,application/vnd.kubernetes.protobuf", "whole"},
    {"application/vnd.kubernetes.protobuf;q=0.5,application/json", "whole"},
    {"application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json", "whole"},
    {"application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", "406"},
    {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
     "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
     "protobuf metadata v1"},
    {"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "metadata v1"},
    // A browser
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "whole"},
    // Weights decide before order does
    {"application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9", "table v1"},
    {"application/json;as=Table;v=v1;g=meta.k8s.io;q=0, application/json", "whole"},
    // What we cannot make is passed over
    {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", "whole"},
    {"application/json;as=Chart;v=v1;g=meta.k8s.io,application/json", "whole"},
    {"application/yaml,application/json", "whole"},
    {"application/yaml", "406"},
    {"application/vnd.kubernetes.protobuf", "protobuf whole"},
    {"application/json;as=Table;v=v1;g=other.io", "406"},
    {"text/plain, image/png", "406"},
    {"application/json;q=0", "406"},
};

std::string shapeText(const Outcome<Shape>& shape) {
  if (!shape) return std::to_string(shape.error().status);
  const std::string prefix = shape->protobuf ? "protobuf " : "";
  if (shape->form == Form::kWhole) return prefix + "whole";
  return prefix + (shape->form == Form::kTable ? "table " : "metadata ") + shape->metaVersion;
}

TEST(Shape, FollowsTheAcceptHeader) {
  for (const auto& c : kAcceptCases)
    EXPECT_EQ(shapeText(shapeOf(c.accept, RequestInfo{}, pods())), c.want) << c.accept;
}

TEST(Shape, CustomKindsHaveProtobufForTheirMetadataOnly) {
  KindInfo custom = pods();
  custom.isCustom = true;
  constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
  const std::string metadata =
      std::string(kProtobuf) + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const std::string both = std::string(kProtobuf) + ",application/json";
  EXPECT_EQ(shapeText(shapeOf(kProtobuf, RequestInfo{}, custom)), "406");
  EXPECT_EQ(shapeText(shapeOf(both, RequestInfo{}, custom)), "whole");
  EXPECT_EQ(shapeText(shapeOf(metadata, RequestInfo{}, custom)), "protobuf metadata v1");
}

TEST(Shape, RefusalSaysWhatCouldBeHad) {
  auto shape = shapeOf("application/yaml", RequestInfo{}, pods());
  ASSERT_FALSE(shape.has_value());
  EXPECT_NE(shape.error().body.find("application/json"), std::string::npos);
  EXPECT_NE(shape.error().body.find("NotAcceptable"), std::string::npos);
}

TEST(Shape, IncludeObjectBelongsToTables) {
  constexpr auto kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const auto with = [](const char* value) {
    RequestInfo info;
    info.parameters = {{"includeObject", value}};
    return info;
  };
  EXPECT_EQ(shapeOf(kTable, RequestInfo{}, pods())->includeObject, "Metadata");
  EXPECT_EQ(shapeOf(kTable, with(""), pods())->includeObject, "Metadata");
  EXPECT_EQ(shapeOf(kTable, with("Object"), pods())->includeObject, "Object");
  EXPECT_EQ(shapeOf(kTable, with("None"), pods())->includeObject, "None");
  auto bad = shapeOf(kTable, with("All"), pods());
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().status, 400);
  EXPECT_NE(bad.error().body.find("includeObject 'All'"), std::string::npos);
  EXPECT_TRUE(shapeOf("application/json", with("All"), pods()).has_value());
}

TEST(Accept, ReadsParametersAndQuotes) {
  auto ranges = parseAccept(R"(a/b;q=0.1, c/d ; G="x.y" ; flag, ,;q=1)");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].type, "c/d");
  EXPECT_EQ(ranges[0].parameter("g"), "x.y");
  EXPECT_EQ(ranges[0].parameter("flag"), "");
  EXPECT_EQ(ranges[1].type, "a/b");
  EXPECT_TRUE(requireJson("text/plain, */*;q=0.1").has_value());
  EXPECT_TRUE(requireObject("application/vnd.kubernetes.protobuf,application/json").has_value());
  EXPECT_EQ(requireObject("application/json;as=Table;v=v1;g=meta.k8s.io").error().status, 406);
  EXPECT_EQ(
      requireJson("application/com.github.proto-openapi.spec.v2@v1.0+protobuf").error().status,
      406);
}

}  // namespace
}  // namespace mangrove::apiserver
