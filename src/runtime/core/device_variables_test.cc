#include "runtime/core/device_variables.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"

namespace mangrove::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

api::Annotations with(std::string_view text) {
  api::Annotations out;
  out.set(api::annotation::kDeviceAllocated, text);
  return out;
}

TEST(DeviceVariables, name_the_cards_of_a_pod) {
  EXPECT_THAT(deviceVariables({}).value(), IsEmpty());
  EXPECT_THAT(deviceVariables(with(R"({"rdma":[{"minor":1}]})")).value(), IsEmpty());
  EXPECT_THAT(
      deviceVariables(with(R"({"gpu":[{"minor":0,"id":"GPU-a"},{"minor":3,"id":"GPU-b"}]})"))
          .value(),
      ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "0,3"),
                  Pair("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b")));
  EXPECT_THAT(deviceVariables(with(R"({"gpu":[{"minor":2}]})")).value(),
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "2")));
  EXPECT_FALSE(deviceVariables(with("{")));
}

}  // namespace
}  // namespace mangrove::runtime
