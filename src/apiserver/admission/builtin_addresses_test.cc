#include "apiserver/admission/builtin_addresses.h"

#include <gtest/gtest.h>

#include "apiserver/core/resources.h"

namespace mangrove::apiserver {
namespace {

class Guard : public ::testing::Test {
 protected:
  // "" or the sentence of the refusal.
  std::string judged(std::string_view group, std::string_view plural, std::string_view object,
                     std::string_view old = "", Identity who = {"tenant", "", {}, {}}) {
    AdmissionRequest request;
    request.resource = resources_.find(group, "v1", plural);
    request.operation = old.empty() ? Operation::kCreate : Operation::kUpdate;
    request.ns = "team";
    request.name = "web";
    request.who = std::move(who);
    request.object = *json::parse(object);
    if (!old.empty()) request.oldObject = *json::parse(old);
    std::string said;
    AddressGuard guard(rbac_, [](std::string_view a) { return a == "10.0.0.5"; });
    guard.validate(request, [&](std::optional<Answer> refusal) {
      if (refusal) said = refusal->body;
    });
    return said;
  }

  Resources resources_;
  Rbac rbac_;
};

TEST_F(Guard, KeepsServicesAwayFromTheMachine) {
  const char* ours = R"({"subsets":[{"addresses":[{"ip":"10.9.9.9"},{"ip":"10.0.0.5"}]}]})";
  const struct {
    const char *group, *plural, *object;
    bool refused;
  } rows[] = {
      {"", "endpoints", ours, true},
      {"", "endpoints", R"({"subsets":[{"notReadyAddresses":[{"ip":"10.0.0.5"}]}]})", true},
      {"", "endpoints", R"({"subsets":[{"addresses":[{"ip":"10.9.9.9"}]}]})", false},
      {"discovery.k8s.io", "endpointslices", R"({"endpoints":[{"addresses":["10.0.0.5"]}]})", true},
      {"discovery.k8s.io", "endpointslices", R"({"endpoints":[{"addresses":["10.0.0.6"]}]})",
       false},
      {"", "services", R"({"spec":{"type":"ClusterIP","externalIPs":["10.0.0.5"]}})", true},
      {"", "services", R"({"spec":{"type":"ExternalName","externalName":"LocalHost"}})", true},
      {"", "services", R"({"spec":{"type":"ExternalName","externalName":"db.localhost"}})", true},
      {"", "services", R"({"spec":{"type":"ExternalName","externalName":"example.com"}})", false},
      {"", "services", R"({"spec":{"type":"ClusterIP","externalName":"localhost"}})", false},
      {"", "configmaps", ours, false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(!judged(row.group, row.plural, row.object).empty(), row.refused) << row.object;
  EXPECT_NE(judged("", "endpoints", ours).find("10.0.0.5 is this machine itself"),
            std::string::npos);
  std::string many = R"({"spec":{"externalIPs":["10.9.9.9")";
  for (int i = 0; i < 1000; ++i) many += R"(,"10.9.9.9")";
  EXPECT_NE(judged("", "services", many + "]}}").find("1001 addresses"), std::string::npos);
  // What somebody with the right wrote may stay; who has every right may write it.
  EXPECT_EQ(judged("", "endpoints", ours, ours), "");
  EXPECT_NE(judged("", "endpoints", ours, R"({"subsets":[]})"), "");
  EXPECT_EQ(judged("", "endpoints", ours, "", Identity::system()), "");
}

}  // namespace
}  // namespace mangrove::apiserver
