// Claims of devices through the whole engine: a server that applies what is written to them.
#include "placement/plugins/dynamicresources/dynamic_resources.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "base/text/strings.h"
#include "json/merge_patch.h"
#include "placement/engine/ingress.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClaimLab {
 public:
  ClaimLab() : ingress_(lab.engine()) {
    for (const char* node : {"n1", "n2"}) {
      lab.node(fmt::format(
          R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"8","memory":"8Gi"}}}}}})",
          node));
      ingress_.resourceSlice(
          node,
          decoded<api::ResourceSlice>(fmt::format(
              R"({{"metadata":{{"name":"{0}"}},"spec":{{"driver":"gpu.io","nodeName":"{0}","pool":{{"name":"{0}","generation":1,
              "resourceSliceCount":1}},"devices":[{{"name":"gpu-0"}},{{"name":"gpu-1"}}]}}}})",
              node)));
    }
    ingress_.deviceClass(
        "gpu",
        decoded<api::DeviceClass>(
            R"({"metadata":{"name":"gpu"},"spec":{"selectors":[{"cel":{"expression":"device.driver == 'gpu.io'"}}],
            "config":[{"opaque":{"driver":"gpu.io","parameters":{"mode":"fast"}}}]}})"));
  }

  void claim(const std::string& name, std::string_view exactly = "", std::string_view meta = "") {
    show(
        name,
        *json::parse(fmt::format(
            R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"uid-{0}"{1}}},"spec":{{"devices":{{"requests":[
            {{"name":"r","exactly":{{"deviceClassName":"gpu"{2}}}}}]}}}}}})",
            name, meta, exactly)));
  }
  void pod(std::string_view name, std::string_view claim) {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"resourceClaims":[{}],"containers":[{{"name":"c"}}]}}}})",
        name, claim));
  }
  // Schedules, and shows what was written to claims.
  void run() {
    for (bool wrote = true; wrote;) {
      wrote = false;
      lab.run();
      for (const std::string& line : lab.takeLog()) {
        log.push_back(line);
        constexpr std::string_view kClaim = "ResourceClaim default/";
        if (!line.starts_with(kClaim)) continue;
        const Halves halves = cut(std::string_view(line).substr(kClaim.size()), ' ');
        json::Value object = objects_.at(std::string(halves.before));
        json::applyMergePatch(object, *json::parse(halves.after));
        show(std::string(halves.before), object);
        wrote = true;
      }
    }
  }
  void remove(const std::string& name) {
    objects_.erase(name);
    ingress_.resourceClaim("default/" + name, nullptr);
  }
  const json::Value& object(const std::string& name) const { return objects_.at(name); }
  std::vector<std::string> devicesOf(const std::string& name) const {
    std::vector<std::string> out;
    const json::Value& claim = objects_.at(name);
    for (const auto& one :
         claim.at("status").at("allocation").at("devices").at("results").as_array())
      out.push_back(fmt::format("{}/{}", std::string_view(one.at("pool").as_string()),
                                std::string_view(one.at("device").as_string())));
    return out;
  }
  size_t consumersOf(const std::string& name) const {
    return objects_.at(name).at("status").at("reservedFor").as_array().size();
  }

  Lab lab;
  std::vector<std::string> log;

 private:
  template <class T>
  static std::shared_ptr<const T> decoded(std::string_view text) {
    auto out = api::decodeText<T>(text);
    EXPECT_TRUE(out) << (out ? "" : out.error().text());
    return std::make_shared<T>(std::move(*out));
  }
  void show(const std::string& name, json::Value object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++versions_);
    ingress_.resourceClaim("default/" + name, decoded<api::ResourceClaim>(json::write(object)));
    objects_[name] = std::move(object);
  }

  Ingress ingress_;
  std::map<std::string, json::Value> objects_;
  int versions_ = 0;
};

std::string named(std::string_view claim) {
  return fmt::format(R"({{"name":"x","resourceClaimName":"{}"}})", claim);
}

TEST(DynamicResources, gives_devices_and_says_who_uses_them) {
  ClaimLab t;
  t.claim("two", R"(,"count":2)");
  t.pod("a", named("two"));
  t.run();
  ASSERT_FALSE(t.lab.nodeOf("a").empty()) << t.lab.said("a");
  const std::string node = t.lab.nodeOf("a");
  EXPECT_THAT(t.devicesOf("two"), ElementsAre(node + "/gpu-0", node + "/gpu-1"));
  EXPECT_EQ(t.consumersOf("two"), 1U);
  const std::string text = json::write(t.object("two"));
  EXPECT_THAT(text, HasSubstr(R"("finalizers":["resource.kubernetes.io/delete-protection"])"));
  EXPECT_THAT(text, HasSubstr(R"("source":"FromClass")"));
  EXPECT_THAT(text, HasSubstr(fmt::format(R"("values":["{}"])", node)));
  EXPECT_THAT(text, HasSubstr(R"("resource":"pods","name":"a")"));
}

TEST(DynamicResources, no_device_twice_and_a_shared_claim_on_its_node) {
  ClaimLab t;
  for (const char* name : {"c1", "c2", "c3", "c4", "c5"}) t.claim(name);
  for (int i = 1; i <= 5; i++) t.pod(fmt::format("p{}", i), named(fmt::format("c{}", i)));
  t.run();
  std::set<std::string> given;
  for (int i = 1; i <= 4; i++) {
    ASSERT_FALSE(t.lab.nodeOf(fmt::format("p{}", i)).empty());
    for (const std::string& one : t.devicesOf(fmt::format("c{}", i))) given.insert(one);
  }
  EXPECT_EQ(given.size(), 4U);
  EXPECT_EQ(t.lab.nodeOf("p5"), "");
  EXPECT_THAT(t.lab.said("p5"),
              HasSubstr("request r: wants 1 devices; 0 of the 2 that match are free"));
  // A second pod of a claim goes where its device is.
  t.pod("mate", named("c1"));
  t.run();
  EXPECT_EQ(t.lab.nodeOf("mate"), t.lab.nodeOf("p1"));
  EXPECT_EQ(t.consumersOf("c1"), 2U);
  // A device that comes back wakes whoever waited for it.
  t.remove("c2");
  t.lab.wait(std::chrono::seconds(20));
  t.run();
  EXPECT_FALSE(t.lab.nodeOf("p5").empty()) << t.lab.said("p5");
}

TEST(DynamicResources, two_pods_of_a_claim_that_is_on_its_way) {
  ClaimLab t;
  t.claim("c");
  t.pod("a", named("c"));
  t.pod("b", named("c"));
  t.run();
  EXPECT_EQ(t.lab.nodeOf("a"), t.lab.nodeOf("b"));
  EXPECT_EQ(t.consumersOf("c"), 2U);
  EXPECT_EQ(t.devicesOf("c").size(), 1U);
}

TEST(DynamicResources, waits_with_a_reason) {
  ClaimLab t;
  t.pod("a", named("gone"));
  t.pod("b", R"({"name":"x","resourceClaimTemplateName":"t"})");
  t.claim("odd", R"(,"selectors":[{"cel":{"expression":"device.driver.size() > 3"}}])");
  t.pod("c", named("odd"));
  t.run();
  EXPECT_THAT(t.lab.said("a"), HasSubstr("resourceclaim \"gone\" not found"));
  EXPECT_THAT(t.lab.said("b"), HasSubstr("waiting for a resourceclaim of template \"t\""));
  EXPECT_THAT(t.lab.said("c"), HasSubstr("claim odd: request r: selector"));
  // The claim of a template comes with the pod as its owner.
  t.claim("b-x-1", "",
          fmt::format(R"(,"annotations":{{"resource.kubernetes.io/pod-claim-name":"x"}},
              "ownerReferences":[{{"apiVersion":"v1","kind":"Pod","name":"b","uid":"{}"}}])",
                      t.lab.find("b")->meta.uid.str()));
  t.lab.wait(std::chrono::seconds(20));
  t.run();
  EXPECT_FALSE(t.lab.nodeOf("b").empty()) << t.lab.said("b");
}

TEST(DynamicResources, gives_back_what_was_promised_when_the_binding_fails) {
  ClaimLab t;
  t.claim("c");
  t.lab.refuseBindings = true;
  t.pod("a", named("c"));
  t.lab.run();
  EXPECT_EQ(t.lab.nodeOf("a"), "");
  EXPECT_EQ(t.lab.cluster().claims.promised("default/c"), nullptr);
  EXPECT_THAT(t.lab.cluster().claims.inUse(), IsEmpty());
}

}  // namespace
}  // namespace mangrove::placement
