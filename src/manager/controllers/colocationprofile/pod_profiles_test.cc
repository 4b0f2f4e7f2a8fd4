#include "manager/controllers/colocationprofile/pod_profiles.h"

#include <gtest/gtest.h>

namespace mangrove::manager {
namespace {

api::ColocationProfile object(const std::string& spec, const std::string& labels = "") {
  return *api::decodeText<api::ColocationProfile>(R"({"metadata":{"name":"p","labels":{)" + labels +
                                                  R"(}},"spec":)" + spec + "}");
}

TEST(PodProfiles, SuffixesAreAppendedOnceWhateverHappens) {
  const auto profile = compileProfile(object(
      R"({"selector":{},"labels":{"a":"b"},"labelSuffixes":{"app":"-x"},"qosClass":"BE","schedulerName":"s","patch":{"metadata":{"labels":{"c":"d"}}}})"));
  json::Value pod = *json::parse(R"({"metadata":{"name":"w","labels":{"app":"web"}},"spec":{}})");
  const auto first = applyToWaiting(profile, "1", pod);
  ASSERT_TRUE(first) << first.error().text();
  const auto& labels = pod.at("metadata").at("labels").as_object();
  EXPECT_EQ(labels.at("app").as_string(), "web-x");
  EXPECT_EQ(labels.at("c").as_string(), "d");
  EXPECT_EQ(labels.at("koordinator.sh/qosClass").as_string(), "BE");
  EXPECT_FALSE(pod.at("spec").as_object().contains("schedulerName"));
  // The same revision: nothing; the next one: everything but the suffix.
  const json::Value before = pod;
  ASSERT_TRUE(applyToWaiting(profile, "1", pod));
  EXPECT_EQ(pod, before);
  ASSERT_TRUE(applyToWaiting(profile, "2", pod));
  EXPECT_EQ(pod.at("metadata").at("labels").at("app").as_string(), "web-x");
  const auto note = pod.at("metadata").at("annotations").at(kAppliedProfiles).as_string();
  EXPECT_EQ(json::write(appliedProfiles(note)), R"({"p":"2"})");
}

TEST(PodProfiles, AnUnreadableNoteCountsAsNone) {
  EXPECT_TRUE(appliedProfiles("").empty());
  EXPECT_TRUE(appliedProfiles("[1]").empty());
}

TEST(PodProfiles, OnlyManagedProfilesWithASelectorAct) {
  const std::string managed = R"("config.koordinator.sh/controller-managed":"true")";
  EXPECT_TRUE(isControllerManaged(object(R"({"selector":{}})", managed), false));
  EXPECT_FALSE(isControllerManaged(object(R"({"selector":{}})"), false));
  EXPECT_TRUE(isControllerManaged(object(R"({"selector":{}})"), true));
  EXPECT_FALSE(isControllerManaged(object("{}", managed), true));
}

}  // namespace
}  // namespace mangrove::manager
