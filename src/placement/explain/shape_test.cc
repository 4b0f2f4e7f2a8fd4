#include "placement/explain/shape.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

ShapeAnswer ask(Lab& lab, int gpus, size_t most = 100) {
  auto pod = *api::decodeText<api::Pod>(devicePod("what-if", cards(gpus)));
  pod.meta.ns = Interned("default");
  return tryShape(lab.engine(), *lab.engine().profiles()[0], pod, most);
}

TEST(Shapes, are_counted_node_by_node_and_nothing_stays) {
  Lab lab;
  putBox(lab, "n1");
  putBox(lab, "n2", {.gpus = 4});
  const ShapeAnswer fours = ask(lab, 4);
  EXPECT_EQ(fours.fits, 3u);
  EXPECT_THAT(fours.byNode, testing::ElementsAre(testing::Pair("n1", 2), testing::Pair("n2", 1)));
  EXPECT_EQ(ask(lab, 8).fits, 1u);
  const ShapeAnswer ones = ask(lab, 1, 5);
  EXPECT_EQ(ones.fits, 5u);
  EXPECT_TRUE(ones.more);
}

TEST(Shapes, name_the_few_moves_that_make_room) {
  Lab lab;
  putBox(lab, "n1");
  putBox(lab, "n2", {.gpus = 4});
  lab.pod(devicePod(
      "small", cards(1),
      R"("scheduling.koordinator.sh/device-allocated":"{\"gpu\":[{\"minor\":3,\"resources\":{\"koordinator.sh/gpu-core\":\"100\",\"koordinator.sh/gpu-memory-ratio\":\"100\"}}]}")",
      R"("nodeName":"n1",)"));
  const ShapeAnswer answer = ask(lab, 8);
  EXPECT_EQ(answer.fits, 0u);
  ASSERT_EQ(answer.moves.size(), 1u);
  EXPECT_EQ(answer.moves[0].pod, "default/small");
  EXPECT_EQ(answer.moves[0].from, "n1");
  EXPECT_EQ(answer.moves[0].to, "n2");
  EXPECT_EQ(answer.movesOn, "n1");
  EXPECT_EQ(lab.nodeOf("small"), "n1");  // nothing has happened
}

}  // namespace
}  // namespace mangrove::placement
