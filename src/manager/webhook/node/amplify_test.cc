// Node status admission: what is amplified, what is remembered, what is taken back.
#include "manager/webhook/node/amplify.h"

#include <gtest/gtest.h>

#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::at;

std::string nodeOf(std::string_view annotations, std::string_view allocatable) {
  return R"({"metadata":{"name":"n","annotations":{)" + std::string(annotations) +
         R"(}},"status":{"allocatable":{)" + std::string(allocatable) + "}}}";
}

json::Value updated(std::string_view node, std::string_view old) {
  Asked asked(Operation::kUpdate, node, old);
  asked.request.subresource = "status";
  return asked.after(mutateNodeStatus(asked.request, {}));
}

constexpr std::string_view kRatio =
    R"("node.koordinator.sh/resource-amplification-ratio":"{\"cpu\":1.22}")";
constexpr std::string_view kRaw = "metadata|annotations|node.koordinator.sh/raw-allocatable";

TEST(NodeStatus, AmplifiesAndRemembers) {  // case 39
  const std::string plain = nodeOf(kRatio, R"("cpu":"64")");
  json::Value first = updated(plain, nodeOf("", R"("cpu":"64")"));
  EXPECT_EQ(at(first, "status|allocatable|cpu"), "78080m");
  EXPECT_EQ(at(first, kRaw), R"({"cpu":"64"})");
  json::Value again = first;
  again.at("status").at("allocatable").at("cpu") = "64";  // the kubelet writes the same once more
  const json::Value second = updated(json::write(again), json::write(first));
  EXPECT_EQ(at(second, "status|allocatable|cpu"), "78080m");
  EXPECT_EQ(at(second, kRaw), R"({"cpu":"64"})");
}

TEST(NodeStatus, ForgetsWithoutRatio) {  // case 40
  const std::string node =
      nodeOf(R"("node.koordinator.sh/raw-allocatable":"{\"cpu\":\"64\"}")", R"("cpu":"78080m")");
  const json::Value after = updated(node, node);
  EXPECT_EQ(at(after, kRaw), "(absent)");
  EXPECT_EQ(at(after, "status|allocatable|cpu"), "78080m");
}

TEST(NodeStatus, GoesByWhatItRemembers) {  // case 41
  const std::string node =
      nodeOf(R"("node.koordinator.sh/raw-allocatable":"{\"cpu\":\"1\"}",)"
             R"("node.koordinator.sh/resource-amplification-ratio":"{\"cpu\":2,\"eni\":3}")",
             R"("cpu":"1000m","eni":"4")");
  const json::Value after = updated(node, node);
  EXPECT_EQ(at(after, "status|allocatable"), R"({"cpu":"2","eni":"4"})");
}

json::Value writtenBy(std::string_view user, const json::Value& node, const json::Value& old) {
  const std::string text = json::write(node), oldText = json::write(old);
  Asked asked(Operation::kUpdate, text, oldText);
  asked.request.subresource = "status";
  asked.request.user = user;
  return asked.after(mutateNodeStatus(asked.request, {}));
}

json::Value withCpu(json::Value node, std::string_view cpu) {
  node.at("status").at("allocatable").at("cpu") = cpu;
  return node;
}

// Raw amounts come from the kubelet where there is one.
TEST(NodeStatus, BelievesTheKubeletAlone) {
  const json::Value plain = *json::parse(nodeOf(kRatio, R"("cpu":"64")"));
  json::Value node = writtenBy("system:node:n", plain, plain);
  EXPECT_EQ(at(node, "status|allocatable|cpu"), "78080m");
  EXPECT_EQ(at(node, "metadata|annotations|mangrove.io/raw-allocatable-from"), "kubelet");
  // Somebody else's amount is put right; the kubelet's new one counts.
  node = writtenBy("admin", withCpu(node, "100"), node);
  EXPECT_EQ(at(node, "status|allocatable|cpu"), "78080m");
  EXPECT_EQ(at(node, kRaw), R"({"cpu":"64"})");
  node = writtenBy("system:node:n", withCpu(node, "50"), node);
  EXPECT_EQ(at(node, "status|allocatable|cpu"), "61");
  EXPECT_EQ(at(node, kRaw), R"({"cpu":"50"})");
}

TEST(NodeStatus, FindsAReportThatWentPastIt) {
  json::Value node = *json::parse(nodeOf(kRatio, R"("cpu":"64")"));
  node = writtenBy("system:node:n", node, node);
  const json::Value missed = withCpu(node, "40");  // stored while we were down
  const json::Value healed = writtenBy("system:node:n", missed, missed);
  EXPECT_EQ(at(healed, "status|allocatable|cpu"), "48800m");
  EXPECT_EQ(at(healed, kRaw), R"({"cpu":"40"})");
  // An amplified amount that comes back unchanged is none.
  const json::Value same = writtenBy("system:node:n", node, node);
  EXPECT_EQ(at(same, "status|allocatable|cpu"), "78080m");
}

TEST(NodeStatus, WithoutAKubeletWhoeverChangesItIsBelieved) {
  json::Value node = *json::parse(nodeOf(kRatio, R"("cpu":"64")"));
  node = writtenBy("kwok", node, node);
  node = writtenBy("kwok", withCpu(node, "50"), node);
  EXPECT_EQ(at(node, kRaw), R"({"cpu":"50"})");
  EXPECT_EQ(at(node, "metadata|annotations|mangrove.io/raw-allocatable-from"), "(absent)");
}

TEST(NodeValidating, RefusesLabelsThatTwoEntriesMatch) {
  Surroundings around;
  around.sloConfig = std::make_shared<const ConfigData>(
      ConfigData{{"colocation-config",
                  R"({"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"1"}}},)"
                  R"({"name":"b","nodeSelector":{"matchLabels":{"b":"2"}}}]})"}});
  Asked asked(Operation::kUpdate, R"({"metadata":{"name":"n","labels":{"a":"1","b":"2"}}})",
              R"({"metadata":{"name":"n","labels":{"a":"1"}}})");
  const Review review = validateNode(asked.request, around);
  EXPECT_FALSE(review.allowed);
  EXPECT_EQ(review.message,
            "with these labels node n is matched by the entries a and b of colocation-config; want "
            "one at most");
}

}  // namespace
}  // namespace mangrove::manager
