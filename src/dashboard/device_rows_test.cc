#include "dashboard/device_rows.h"

#include <gmock/gmock.h>

#include "api/wire/decode.h"

namespace mangrove::dashboard {
namespace {

using testing::HasSubstr;

template <class T>
std::shared_ptr<const T> object(std::string_view text) {
  auto out = api::decodeText<T>(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return std::make_shared<T>(std::move(*out));
}

const char* const kDevice =
    R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/gpu-model":"H200"}},"spec":{"devices":[
  {"type":"gpu","id":"GPU-0","minor":0,"health":true,"resources":{"koordinator.sh/gpu-core":"100",
   "koordinator.sh/gpu-memory":"80Gi","koordinator.sh/gpu-memory-ratio":"100"},
   "topology":{"nodeID":1,"pcieID":"pci0000:5d"}},
  {"type":"gpu","id":"GPU-1","minor":1,"health":false,"conditions":[{"type":"Healthy","status":"False","message":"XID 79"}]}]}})";

std::shared_ptr<const api::Pod> holder(const std::string& name, const std::string& core) {
  return object<api::Pod>(
      R"({"metadata":{"name":")" + name + R"(","namespace":"default","uid":"uid-)" + name +
      R"(","annotations":{"scheduling.koordinator.sh/device-allocated":"{\"gpu\":[{\"minor\":0,\"resources\":{\"koordinator.sh/gpu-core\":\")" +
      core + R"(\",\"koordinator.sh/gpu-memory-ratio\":\")" + core +
      R"(\"}}]}"}},"spec":{"nodeName":"n1","containers":[{"name":"c"}]}})");
}

TEST(DeviceRows, say_who_has_what_share_of_which_card) {
  ClusterView view;
  view.nodes.push_back(object<api::Node>(R"({"metadata":{"name":"n1"}})"));
  view.metrics["n1"] = object<api::NodeMetric>(
      R"({"metadata":{"name":"n1"},"status":{"nodeMetric":{"nodeUsage":{"devices":[
          {"type":"gpu","minor":0,"resources":{"koordinator.sh/gpu-core":"12","mangrove.io/gpu-celsius":"71"}}]}}}})");
  view.pods = {holder("a", "50"), holder("b", "30")};
  const std::string text = json::write(deviceBoard(view, {object<api::Device>(kDevice)}));
  EXPECT_THAT(text, HasSubstr(R"("model":"H200")"));
  EXPECT_THAT(text, HasSubstr(R"({"pod":"default/a","share":50},{"pod":"default/b","share":30})"));
  EXPECT_THAT(text, HasSubstr(R"("used":80,"total":100)"));
  EXPECT_THAT(text, HasSubstr(R"("busy":12,"celsius":71)"));
  EXPECT_THAT(text, HasSubstr(R"("busy":null,"celsius":null)"));  // of the ill one
  EXPECT_THAT(text, HasSubstr(R"("numa":1,"pcie":"pci0000:5d")"));
  EXPECT_THAT(text, HasSubstr(R"("health":"unhealthy","why":"XID 79")"));
  EXPECT_THAT(text, testing::Not(HasSubstr(R"("over":"k)")));
}

TEST(DeviceRows, show_cards_that_are_given_twice_and_cards_that_are_gone) {
  ClusterView view;
  view.nodes.push_back(object<api::Node>(R"({"metadata":{"name":"n1"}})"));
  view.pods = {holder("a", "80"), holder("b", "30")};
  std::string text = json::write(deviceBoard(view, {object<api::Device>(kDevice)}));
  EXPECT_THAT(text, HasSubstr(R"("over":"koordinator.sh/gpu-core")"));
  text = json::write(deviceBoard(view, {}));
  EXPECT_THAT(text, HasSubstr(R"("health":"gone","why":"the node reports no devices any more")"));
  EXPECT_EQ(json::write(deviceBoard({}, {})), R"({"nodes":[]})");
}

}  // namespace
}  // namespace mangrove::dashboard
