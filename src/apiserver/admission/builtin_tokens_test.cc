#include "apiserver/admission/builtin_tokens.h"

#include <gtest/gtest.h>

#include "apiserver/core/test_server.h"

namespace mangrove::apiserver {
namespace {

json::Object specOf(std::string_view text) {
  return json::parse(text)->get_object();
}

TEST(TokenVolume, IsMountedWhereNothingElseIs) {
  json::Object spec = specOf(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"},
    {"name":"b","volumeMounts":[{"name":"mine","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
    "volumes":[{"name":"mine","emptyDir":{}}]})");
  addTokenVolume(spec, "kube-api-access-abcde");
  const json::Value value = spec;
  ASSERT_EQ(spec["volumes"].get_array().size(), 2U);
  const json::Value& made = value.at("volumes").at(1);
  EXPECT_EQ(made.at("name"), "kube-api-access-abcde");
  EXPECT_EQ(made.at("projected").at("defaultMode"), 0644);
  EXPECT_EQ(made.at("projected").at("sources").at(0).at("serviceAccountToken").at("path"), "token");
  for (const char* list : {"initContainers", "containers"})
    EXPECT_EQ(value.at(list).at(0).at("volumeMounts").at(0).at("name"), "kube-api-access-abcde");
  EXPECT_EQ(value.at("containers").at(1).at("volumeMounts").get_array().size(), 1U);
}

TEST(TokenVolume, IsNotThereWhenNobodyMountsIt) {
  json::Object spec = specOf(R"({"containers":[{"name":"b","volumeMounts":[
    {"name":"mine","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]})");
  addTokenVolume(spec, "kube-api-access-abcde");
  EXPECT_FALSE(spec.contains("volumes"));
}

TEST(TokenVolume, StaysWhenTheManifestIsSentAgain) {
  const std::string_view manifest = R"({"containers":[{"name":"a"}]})";
  json::Object old = specOf(manifest), now = specOf(manifest);
  addTokenVolume(old, "kube-api-access-abcde");
  keepTokenVolume(now, old);
  EXPECT_EQ(now, old);
  keepTokenVolume(now, old);
  EXPECT_EQ(now, old);
  json::Object without = specOf(manifest);
  keepTokenVolume(without, specOf(manifest));
  EXPECT_EQ(without, specOf(manifest));
}

}  // namespace
}  // namespace mangrove::apiserver
