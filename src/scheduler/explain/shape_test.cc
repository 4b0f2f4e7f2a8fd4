#include "scheduler/explain/shape.h"

#include <gmock/gmock.h>

namespace mangrove::scheduler {
namespace {

using testing::HasSubstr;

template <class Change>
ShapeRequest shape(Change change) {
  ShapeRequest out;
  change(out);
  return out;
}

TEST(ShapeRequest, is_spelled_as_a_pod) {
  const auto text = [](ShapeRequest request) {
    auto pod = podOf(request);
    return pod ? *pod : pod.error().text();
  };
  EXPECT_THAT(text(shape([](ShapeRequest& r) { r.gpus = 8; })),
              HasSubstr(R"("koordinator.sh/gpu-core":"800")"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) {
                r.gpus = 2;
                r.percent = 25;
              })),
              HasSubstr(R"("koordinator.sh/gpu.shared":"2")"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) {
                r.gpus = 4;
                r.topology = "pcie";
              })),
              HasSubstr("requiredTopologyScope"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) {
                r.gpus = 4;
                r.topology = "nvlink";
              })),
              HasSubstr("gpu-partition-spec"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) {
                r.gpus = 4;
                r.rdma = 2;
              })),
              HasSubstr("device-joint-allocate"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) { r.topology = "rack"; })),
              HasSubstr("want node, numa, pcie or nvlink"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) { r.gpus = -1; })), HasSubstr("want 0 to 1024"));
  EXPECT_THAT(text(shape([](ShapeRequest& r) { r.percent = 101; })), HasSubstr("want 1 to 100"));
}

TEST(ShapeAnswer, is_told_with_its_moves) {
  ShapeAnswer answer;
  answer.fits = 3;
  answer.byNode = {{"a", 2}, {"b", 1}};
  answer.message = "0/2 nodes are available";
  answer.movesOn = "b";
  answer.moves = {{"default/small", "b", "a"}};
  EXPECT_EQ(toText({.gpus = 8, .topology = "nvlink"}, answer),
            "3 pods with 8 GPUs of 100 % each (nvlink) fit now\n"
            "  a                        2\n"
            "  b                        1\n"
            "\none more: 0/2 nodes are available\n"
            "these moves would make room for one more on b:\n"
            "  default/small                    b -> a\n");
  EXPECT_THAT(toJsonText(answer), HasSubstr(R"("fits": 3)"));
  answer.moves.clear();
  EXPECT_THAT(toText({}, answer), HasSubstr("no few moves would make room for one more"));
}

}  // namespace
}  // namespace mangrove::scheduler
