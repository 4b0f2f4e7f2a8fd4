#include "placement/dra/allocate.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "base/text/strings.h"
#include "placement/dra/objects.h"

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

template <class T>
std::shared_ptr<const T> object(std::string_view text) {
  auto out = api::decodeText<T>(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return std::make_shared<T>(std::move(*out));
}

// Four cards in two groups on node n1, one of them tainted; a network card for all nodes.
struct World {
  ObjectMap<api::ResourceSlice> slices;
  ObjectMap<api::DeviceClass> classes;
  std::set<std::string> inUse;
  api::ObjectMeta node;

  World() {
    node.name = api::Text("n1");
    std::string devices;
    for (int i = 0; i < 4; i++)
      devices += fmt::format(
          R"({}{{"name":"gpu-{}","attributes":{{"group":{{"int":{}}},"index":{{"int":{}}}}}{}}})",
          i ? "," : "", i, i / 2, i,
          i == 3 ? R"(,"taints":[{"key":"ill","effect":"NoSchedule"}])" : "");
    slice("a", fmt::format(R"("nodeName":"n1","devices":[{}])", devices));
    slice("net", R"("allNodes":true,"devices":[{"name":"nic"}])", "net.io", "shared");
    deviceClass("gpu", R"([{"cel":{"expression":"device.driver == 'gpu.io'"}}])");
    deviceClass("nic", R"([{"cel":{"expression":"device.driver == 'net.io'"}}])");
  }
  void slice(const std::string& name, std::string_view spec, std::string_view driver = "gpu.io",
             std::string_view pool = "n1", int generation = 1, int count = 1) {
    slices.put(name,
               object<api::ResourceSlice>(fmt::format(
                   R"({{"metadata":{{"name":"{}"}},"spec":{{"driver":"{}","pool":{{"name":"{}",
                             "generation":{},"resourceSliceCount":{}}},{}}}}})",
                   name, driver, pool, generation, count, spec)));
  }
  void deviceClass(const std::string& name, std::string_view selectors) {
    classes.put(
        name, object<api::DeviceClass>(fmt::format(
                  R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":{}}}}})", name, selectors)));
  }
  // "r: gpu-0 gpu-1", or what was in the way.
  std::string ask(std::string_view devices) const {
    const auto claim = object<api::ResourceClaim>(
        fmt::format(R"({{"metadata":{{"name":"c"}},"spec":{{"devices":{{{}}}}}}})", devices));
    if (auto ok = checkClaim(*claim, classes); !ok) return ok.error().text();
    const auto pools = poolsOf(slices);
    auto got = allocateClaims({node, pools, classes, inUse}, {claim.get()});
    if (!got) return got.error().text();
    std::string out;
    for (const api::GivenDevice& one : (*got)[0].devices)
      out += fmt::format("{}{}: {}", out.empty() ? "" : " ", one.request, one.device);
    return out + ((*got)[0].isLocal ? "" : " everywhere");
  }
};

std::string exactly(std::string_view cls, std::string_view more = "") {
  return fmt::format(R"({{"name":"r","exactly":{{"deviceClassName":"{}"{}}}}})", cls, more);
}
std::string requests(std::string_view list) {
  return fmt::format(R"("requests":[{}])", list);
}

TEST(AllocateClaims, counts_all_selectors_and_constraints) {
  const World world;
  EXPECT_EQ(world.ask(requests(exactly("gpu"))), "r: gpu-0");
  EXPECT_EQ(world.ask(requests(exactly("nic"))), "r: nic everywhere");
  EXPECT_EQ(world.ask(requests(exactly("gpu", R"(,"count":3)"))), "r: gpu-0 r: gpu-1 r: gpu-2");
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"count":4)"))),
              HasSubstr("request r: wants 4 devices; 3 of the 3 that match are free"));
  EXPECT_EQ(world.ask(requests(
                exactly("gpu", R"(,"count":4,"tolerations":[{"key":"ill","operator":"Exists"}])"))),
            "r: gpu-0 r: gpu-1 r: gpu-2 r: gpu-3");
  EXPECT_EQ(world.ask(requests(exactly("gpu", R"(,"allocationMode":"All")"))),
            "r: gpu-0 r: gpu-1 r: gpu-2");
  EXPECT_EQ(
      world.ask(requests(exactly(
          "gpu",
          R"(,"selectors":[{"cel":{"expression":"device.attributes['gpu.io'].index > 1"}}])"))),
      "r: gpu-2");
  EXPECT_EQ(world.ask(requests(exactly("gpu", R"(,"count":2)")) +
                      R"(,"constraints":[{"distinctAttribute":"gpu.io/group"}])"),
            "r: gpu-0 r: gpu-2");
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"count":3)")) +
                        R"(,"constraints":[{"matchAttribute":"gpu.io/group"}])"),
              HasSubstr("no free devices meet all requests and constraints"));
}

TEST(AllocateClaims, goes_back_where_the_first_choice_leads_nowhere) {
  World world;
  world.inUse = {"gpu.io/n1/gpu-1"};
  // gpu-0 is the first, but its only neighbour is taken.
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"count":2)")) +
                        R"(,"constraints":[{"matchAttribute":"gpu.io/group"}])"),
              HasSubstr("no free devices"));
  EXPECT_EQ(
      world.ask(requests(exactly("gpu", R"(,"count":2,"tolerations":[{"operator":"Exists"}])")) +
                R"(,"constraints":[{"matchAttribute":"gpu.io/group"}])"),
      "r: gpu-2 r: gpu-3");
}

TEST(AllocateClaims, all_wants_every_one_of_them) {
  World world;
  world.inUse = {"gpu.io/n1/gpu-1"};
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"allocationMode":"All")"))),
              HasSubstr("wants all devices; 2 of 3 are free"));
  world.inUse.clear();
  world.slice("b", R"("nodeName":"n1","devices":[{"name":"x"}])", "gpu.io", "more", 1, 2);
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"allocationMode":"All")"))),
              HasSubstr("pool more of gpu.io is incomplete: 1 of 2 slices are there"));
  EXPECT_EQ(world.ask(requests(exactly("gpu"))), "r: gpu-0");
  // Another node's pool is no trouble of this one.
  World elsewhere;
  elsewhere.slice("b", R"("nodeName":"n2","devices":[{"name":"x"}])", "gpu.io", "more", 1, 2);
  EXPECT_EQ(elsewhere.ask(requests(exactly("gpu", R"(,"allocationMode":"All")"))),
            "r: gpu-0 r: gpu-1 r: gpu-2");
}

TEST(AllocateClaims, only_the_newest_generation_of_a_pool_counts) {
  World world;
  world.slice("new", R"("nodeName":"n1","devices":[{"name":"gpu-9"}])", "gpu.io", "n1", 2);
  EXPECT_EQ(world.ask(requests(exactly("gpu"))), "r: gpu-9");
  world.slice("newer", R"("nodeName":"n1","devices":[{"name":"gpu-9"}])", "gpu.io", "n1", 3, 2);
  EXPECT_THAT(world.ask(requests(exactly("gpu"))), HasSubstr("wants 1 devices; 0 of the 0"));
  world.node.name = api::Text("n2");
  EXPECT_EQ(world.ask(requests(exactly("nic"))), "r: nic everywhere");
}

TEST(AllocateClaims, refuses_with_the_reason_what_is_not_served) {
  World world;
  world.deviceClass("odd", R"x([{"cel":{"expression":"device.driver.startsWith('g')"}}])x");
  EXPECT_THAT(world.ask(requests(exactly("gone"))), HasSubstr("DeviceClass gone does not exist"));
  EXPECT_THAT(world.ask(requests(exactly("odd"))), HasSubstr("compareTo"));
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"count":0)"))),
              HasSubstr("count is 0; want 1 or more"));
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"adminAccess":true)"))),
              HasSubstr("adminAccess is not served"));
  EXPECT_THAT(world.ask(requests(
                  R"({"name":"r","firstAvailable":[{"name":"a","deviceClassName":"gpu"}]})")),
              HasSubstr("firstAvailable is not served"));
  EXPECT_THAT(world.ask(requests(exactly("gpu", R"(,"capacity":{"requests":{"memory":"1Gi"}})"))),
              HasSubstr("a part of a device's capacity is not served"));
  EXPECT_THAT(
      world.ask(requests(exactly(
          "gpu",
          R"(,"selectors":[{"cel":{"expression":"device.attributes['gpu.io'].no == 1"}}])"))),
      HasSubstr("has no attribute gpu.io/no"));
  EXPECT_THAT(world.ask(requests(exactly("gpu")) + R"(,"constraints":[{}])"),
              HasSubstr("matchAttribute or distinctAttribute"));
}

}  // namespace
}  // namespace mangrove::placement
