// Node status admission: the cases 39–41 of spec 02 §5.
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
