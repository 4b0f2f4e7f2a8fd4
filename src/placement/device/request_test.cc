// Every spelling of a device request, what it comes to, and what is refused in which words.
#include "placement/device/request.h"

#include <gmock/gmock.h>

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

struct Accepted {
  const char* what;
  Amounts asked;
  int64_t cards;
  Amounts perCard;
  bool shared;
};

TEST(DeviceRequest, CountsCardsAndTheirShares) {
  const Accepted kCases[] = {
      {"cards of a vendor",
       {{"amd.com/gpu", 2}},
       2,
       {{"koordinator.sh/gpu-core", 100}, {"koordinator.sh/gpu-memory-ratio", 100}},
       false},
      {"part of one card in percent",
       {{"koordinator.sh/gpu", 30}},
       1,
       {{"koordinator.sh/gpu-core", 30}, {"koordinator.sh/gpu-memory-ratio", 30}},
       true},
      {"bytes are a share even when they are all",
       {{"koordinator.sh/gpu-memory", 80}},
       1,
       {{"koordinator.sh/gpu-memory", 80}},
       true},
      {"halves of two cards",
       {{"koordinator.sh/gpu.shared", 2}, {"koordinator.sh/gpu-memory-ratio", 100}},
       2,
       {{"koordinator.sh/gpu-memory-ratio", 50}},
       true},
      {"a zero is not asked for",
       {{"nvidia.com/gpu", 0}, {"koordinator.sh/gpu-memory-ratio", 200}},
       2,
       {{"koordinator.sh/gpu-memory-ratio", 100}},
       false},
      {"cores without a count of cards stay on one",
       {{"koordinator.sh/gpu-core", 200}, {"koordinator.sh/gpu-memory", 64}},
       1,
       {{"koordinator.sh/gpu-core", 200}, {"koordinator.sh/gpu-memory", 64}},
       true},
      {"an NPU template",
       {{"koordinator.sh/gpu.shared", 1},
        {"huawei.com/npu-core", 8},
        {"huawei.com/npu-cpu", 4},
        {"huawei.com/npu-dvpp", 100},
        {"koordinator.sh/gpu-memory", 64}},
       1,
       {{"huawei.com/npu-core", 8},
        {"huawei.com/npu-cpu", 4},
        {"huawei.com/npu-dvpp", 100},
        {"koordinator.sh/gpu-memory", 64}},
       true},
  };
  for (const Accepted& one : kCases) {
    SCOPED_TRACE(one.what);
    const DeviceReading got = readDeviceRequest(one.asked);
    ASSERT_FALSE(got.refusal) << got.refusal->message;
    ASSERT_TRUE(got.request.gpu);
    EXPECT_EQ(got.request.gpu->count, one.cards);
    EXPECT_EQ(got.request.gpu->perGpu, one.perCard);
    EXPECT_EQ(got.request.gpu->shared, one.shared);
  }
}

TEST(DeviceRequest, RefusesWithTheNameTheValueAndWhatWouldBeRight) {
  struct {
    Amounts asked;
    DeviceFault fault;
    const char* says;
  } const kCases[] = {
      {{{"koordinator.sh/gpu", 101}},
       DeviceFault::kUnit,
       "koordinator.sh/gpu is 101; want at most 100 or a multiple of 100"},
      {{{"koordinator.sh/rdma", 201}}, DeviceFault::kUnit, "koordinator.sh/rdma is 201"},
      {{{"koordinator.sh/fpga", 150}, {"nvidia.com/gpu", 1}},
       DeviceFault::kUnit,
       "koordinator.sh/fpga is 150"},
      {{{"koordinator.sh/gpu-core", 100}}, DeviceFault::kCombination, "do not make a GPU request"},
      {{{"amd.com/gpu", 1}, {"nvidia.com/gpu", 1}},
       DeviceFault::kCombination,
       "cards of one vendor"},
      {{{"koordinator.sh/gpu-core", 100}, {"koordinator.sh/gpu-memory-ratio", 101}},
       DeviceFault::kCombination,
       "koordinator.sh/gpu-memory-ratio is 101"},
      {{{"koordinator.sh/gpu.shared", 2}, {"koordinator.sh/gpu-memory-ratio", 101}},
       DeviceFault::kCombination,
       "want a multiple of koordinator.sh/gpu.shared (2)"},
      {{{"koordinator.sh/gpu.shared", 2},
        {"huawei.com/npu-core", 8},
        {"huawei.com/npu-cpu", 4},
        {"koordinator.sh/gpu-memory", 64}},
       DeviceFault::kCombination,
       "one card at a time"},
      {{{"koordinator.sh/gpu.shared", 1},
        {"huawei.com/npu-core", 8},
        {"huawei.com/npu-cpu", 4},
        {"huawei.com/npu-dvpp", 101},
        {"koordinator.sh/gpu-memory", 64}},
       DeviceFault::kCombination,
       "huawei.com/npu-dvpp is 101"},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.says);
    const DeviceReading got = readDeviceRequest(one.asked);
    ASSERT_TRUE(got.refusal);
    EXPECT_EQ(got.refusal->fault, one.fault);
    EXPECT_THAT(got.refusal->message, HasSubstr(one.says));
    EXPECT_TRUE(got.request.byType.empty());
  }
}

TEST(DeviceRequest, KeepsTheTypesApartAndPassesOverTheRest) {
  const DeviceReading got =
      readDeviceRequest({{"cpu", 4000}, {"koordinator.sh/rdma", 50}, {"koordinator.sh/fpga", 200}});
  ASSERT_FALSE(got.refusal);
  EXPECT_FALSE(got.request.gpu);
  ASSERT_EQ(got.request.byType.size(), 2u);
  EXPECT_EQ(got.request.byType.at("rdma"), (Amounts{{"koordinator.sh/rdma", 50}}));
  EXPECT_EQ(got.request.byType.at("fpga"), (Amounts{{"koordinator.sh/fpga", 200}}));
}

}  // namespace
}  // namespace mangrove::placement
