// Slices of services: one for each set of port numbers, and mirrors of what somebody wrote.
#include "workloads/endpoints.h"

#include <gtest/gtest.h>

#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

// "NAME port:address,address NAME …" of the slices that are created or patched.
std::string slicesIn(const Plan& plan) {
  std::string out;
  const auto say = [&](std::string_view name, const json::Object& body) {
    out += fmt::format("{}{} ", out.empty() ? "" : " ", name);
    for (const auto& port : body.at("ports").as_array())
      out += fmt::format("{}:", port.at("port").as_int64());
    for (const auto& one : body.at("endpoints").as_array())
      out += std::string(one.at("addresses").as_array()[0].as_string()) + ";";
  };
  for (const auto& one : plan.create)
    if (one.kind.kind == "EndpointSlice")
      say(std::string_view(one.body.at("metadata").at("name").as_string()), one.body);
  for (const auto& one : plan.change)
    if (one.ref.kind.kind == "EndpointSlice") say(one.ref.name, one.body);
  return out;
}

std::shared_ptr<const Service> service(const std::string& spec) {
  return object<Service>(R"({"metadata":{"name":"web","namespace":"d","uid":"u"},"spec":{)" + spec +
                         "}}");
}

std::shared_ptr<const api::Pod> pod(const std::string& ip, int port) {
  return object<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"p{0}","namespace":"d"}},"spec":{{"containers":[{{"name":"c","ports":[{{"name":"http","containerPort":{0}}}]}}]}},"status":{{"phase":"Running","podIP":"{1}","conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      port, ip));
}

TEST(Slices, AreApartByThePodsPorts) {
  const auto web =
      service(R"("selector":{"a":"b"},"ports":[{"name":"http","port":80,"targetPort":"http"}])");
  const Plan plan = planEndpoints(*web, {pod("10.0.0.1", 8080), pod("10.0.0.2", 9090)}, "", {});
  EXPECT_EQ(slicesIn(plan), "web 8080:10.0.0.1; web.1 9090:10.0.0.2;");
  const std::vector<PresentSlice> present = {{"web", "endpointslice-controller.k8s.io", "{}"},
                                             {"web.1", "endpointslice-controller.k8s.io", "{}"},
                                             {"own", "somebody", "{}"}};
  const Plan less = planEndpoints(*web, {pod("10.0.0.2", 9090)}, "{}", present);
  EXPECT_EQ(slicesIn(less), "web 9090:10.0.0.2;");
  EXPECT_EQ(textOf(less), "remove web.1");
}

TEST(Slices, MirrorWhatSomebodyWrote) {
  const auto web = service(R"("ports":[{"port":80}])");
  const char* endpoints =
      R"({"metadata":{},"subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"port":80}]}]})";
  EXPECT_EQ(slicesIn(planEndpoints(*web, {}, endpoints, {})), "web 80:10.1.2.3;");
  const std::vector<PresentSlice> present = {
      {"web", "endpointslicemirroring-controller.k8s.io", "{}"}, {"own", "", "{}"}};
  EXPECT_EQ(textOf(planEndpoints(*web, {}, "", present)), "remove web") << "the original is gone";
  const char* unwanted =
      R"({"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}},"subsets":[{"addresses":[{"ip":"10.1.2.3"}]}]})";
  EXPECT_EQ(slicesIn(planEndpoints(*web, {}, unwanted, {})), "");
}

}  // namespace
}  // namespace mangrove::workloads
