#include "up/pod_devices.h"

#include <set>

#include <gmock/gmock.h>

#include "api/wire/decode.h"

namespace mangrove::up {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

api::Pod podWith(std::string_view labels, std::string_view given) {
  std::string quoted;
  for (char c : given) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  auto pod = api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"default","uid":"u","labels":{},"annotations":{{"scheduling.koordinator.sh/device-allocated":"{}"}}}},"spec":{{"containers":[{{"name":"c"}}]}}}})",
      labels, quoted));
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return std::move(*pod);
}

DeviceKit kitWith(std::set<std::string> files) {
  DeviceKit kit;
  kit.exists = [files = std::move(files)](const std::string& path) { return files.contains(path); };
  kit.rdma.manager = agent::NriDevice{"/dev/infiniband/rdma_cm", 10, 62};
  kit.rdma.verbs["0000:1f:00.2"] = {{"/dev/infiniband/uverbs3", 231, 195}};
  return kit;
}

TEST(PodDevices, are_the_files_of_the_cards_given_and_of_their_driver) {
  const DeviceKit kit =
      kitWith({"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2",
               "/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs3"});
  const auto gear =
      gearFor(kit, podWith("{}", R"({"gpu":[{"minor":0},{"minor":2},{"minor":9}]})"), "c");
  ASSERT_TRUE(gear);
  // Card 9 has no file here.
  EXPECT_THAT(gear->nodes,
              ElementsAre("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia2"));
  EXPECT_THAT(gear->mounts, IsEmpty());
  const auto network = gearFor(
      kit,
      podWith("{}",
              R"({"rdma":[{"minor":1,"extension":{"vfs":[{"minor":2,"busID":"0000:1f:00.2"}]}}]})"),
      "c");
  ASSERT_TRUE(network);
  EXPECT_THAT(network->nodes, ElementsAre("/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs3"));
  EXPECT_THAT(gearFor(kit, podWith("{}", ""), "c")->nodes, IsEmpty());
}

TEST(PodDevices, hold_a_share_by_hami_core_where_it_is_installed) {
  const char* const share =
      R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"1Gi","koordinator.sh/gpu-memory-ratio":"50"}}]})";
  const api::Pod pod = podWith(R"({"koordinator.sh/gpu-isolation-provider":"HAMi-core"})", share);
  const auto missing = gearFor(kitWith({"/dev/nvidia0"}), pod, "c");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("libvgpu.so is not there"));
  const auto gear = gearFor(kitWith({"/usr/local/vgpu/libvgpu.so"}), pod, "c");
  ASSERT_TRUE(gear);
  EXPECT_THAT(gear->env, ElementsAre(Pair("CUDA_DEVICE_MEMORY_LIMIT", "1073741824"),
                                     Pair("CUDA_DEVICE_SM_LIMIT", "50"),
                                     Pair("LD_PRELOAD", "/usr/local/vgpu/libvgpu.so")));
  ASSERT_EQ(gear->mounts.size(), 2U);
  EXPECT_TRUE(gear->mounts[0].readOnly);
  EXPECT_FALSE(gear->mounts[0].isFolder);
  EXPECT_TRUE(gear->mounts[1].isFolder);
  // Without the label nobody holds it.
  EXPECT_THAT(gearFor(kitWith({}), podWith("{}", share), "c")->mounts, IsEmpty());
}

}  // namespace
}  // namespace mangrove::up
