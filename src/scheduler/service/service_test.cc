#include "scheduler/service/service.h"

#include <gtest/gtest.h>

#include "json/value.h"
#include "placement/testing/lab.h"
#include "placement/testing/quota_lab.h"

namespace mangrove::scheduler {
namespace {

using placement::Lab;

void member(Lab& lab, const std::string& name, const std::string& gang,
            const std::string& scheduler) {
  lab.pod(R"({"metadata":{"name":")" + name +
          R"(","annotations":{"gang.scheduling.koordinator.sh/name":")" + gang +
          R"(","gang.scheduling.koordinator.sh/min-available":"2"}},"spec":{"schedulerName":")" +
          scheduler + R"(","containers":[{"name":"c"}]}})");
}

json::Object page(Lab& lab, const std::string& path) {
  const ServiceAnswer answer =
      answerService(lab.engine(), "/apis/v1/plugins/Coscheduling/" + path, true);
  EXPECT_EQ(answer.status, 200) << answer.body;
  auto parsed = json::parse(answer.body);
  return parsed && parsed->is_object() ? parsed->get_object() : json::Object();
}

// A PodGroup is known to every profile, its members to one.
TEST(Service, gangs_of_all_profiles_are_shown_as_the_one_sees_them_that_has_their_members) {
  Lab lab;  // with two profiles
  auto group = api::decodeText<api::PodGroup>(
      R"({"metadata":{"namespace":"default","name":"object"},"spec":{"minMember":2}})");
  lab.cluster().putPodGroup("default/object", std::make_shared<api::PodGroup>(std::move(*group)));
  member(lab, "a", "first", "default-scheduler");
  member(lab, "b", "second", "koord-scheduler");
  lab.pod(
      R"({"metadata":{"name":"c","labels":{"pod-group.scheduling.sigs.k8s.io":"object"}},"spec":{"schedulerName":"koord-scheduler","containers":[{"name":"c"}]}})");
  const json::Object all = page(lab, "gangs");
  EXPECT_EQ(all.size(), 3u);
  for (auto gang : {"default/first", "default/second", "default/object"}) {
    ASSERT_TRUE(all.contains(gang)) << gang;
    EXPECT_EQ(all.at(gang).at("children").as_array().size(), 1u) << gang;
  }
  EXPECT_EQ(page(lab, "gang/default/object").at("children").as_array().size(), 1u);
  EXPECT_EQ(page(lab, "gang/default/second").at("minRequiredNumber"), 2);
  EXPECT_EQ(page(lab, "head").at("group"), "");
  const auto none =
      answerService(lab.engine(), "/apis/v1/plugins/Coscheduling/gang/default/none", true);
  EXPECT_EQ(none.status, 404);
}

TEST(Service, quotas_are_shown_with_their_numbers_and_why_a_pod_waits) {
  placement::QuotaLab lab;
  lab.machine("n1", 10);
  lab.quota("q", {.min = 1, .max = 2});
  lab.ask("a", "q", 2);
  lab.ask("b", "q", 1);
  lab.run();
  const auto asked = [&](const std::string& path) {
    return answerService(lab.lab.engine(), "/apis/v1/" + path, true);
  };
  for (const char* path : {"quotas", "quotas/q", "quota/q"}) {
    const auto page = json::parse(asked("plugins/ElasticQuota/" + std::string(path)).body);
    ASSERT_TRUE(page) << path;
    const json::Value& quota = std::string_view(path) == "quotas" ? page->at("q") : *page;
    EXPECT_EQ(quota.at("used").at("cpu"), "2") << path;
  }
  const std::string uid = lab.find("b")->meta.uid.str();
  const auto why = json::parse(asked("plugins/ElasticQuota/pods/" + uid).body);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->at("placeInLine"), 1);
  EXPECT_EQ(asked("plugins/ElasticQuota/quotas/none").status, 404);
  EXPECT_NE(asked("__services__").body.find("ElasticQuota/quotas/:name"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::scheduler
