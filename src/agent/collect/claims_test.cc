// Claims of pods are asked for once, only where somebody wants to know, and lead block I/O settings
// to the right disk.
#include "agent/collect/claims.h"

#include <gtest/gtest.h>

#include "agent/qos/blkio/strategy.h"
#include "agent/qos/testing/machine_bench.h"
#include "client/testing/scripted_client.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

PodPtr podWith(const std::string& annotations) {
  return std::make_shared<const api::Pod>(*api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"db","namespace":"d","uid":"u1","labels":{{"koordinator.sh/qosClass":)"
      R"("LS"}},"annotations":{}}},"spec":{{"containers":[{{"name":"c"}}],"volumes":[)"
      R"({{"name":"data","persistentVolumeClaim":{{"claimName":"data-0"}}}},)"
      R"({{"name":"tmp","ephemeral":{{"volumeClaimTemplate":{{"spec":{{}}}}}}}},)"
      R"({{"name":"inline","csi":{{"driver":"x"}}}}]}},"status":{{"phase":"Running"}}}})",
      annotations)));
}

const char* const kLimited =
    R"({"koordinator.sh/blkioQOS":"{\"blocks\":[{\"name\":\"data\",\"type\":\"podvolume\",)"
    R"(\"ioCfg\":{\"readBPS\":1048576}}]}"})";

struct Room {
  explicit Room(const std::string& annotations) {
    pods[0].pod = podWith(annotations);
    pods[0].cgroup = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice";
    look.at = MonoTime(100s);
    look.pods = pods;
  }
  void tick(Duration after = 1s) {
    look.at += after;
    claims.tick(look);
  }
  client::testing::ScriptedClient api;
  Mailbox owner;
  Claims claims{api, owner};
  std::vector<PodLook> pods = std::vector<PodLook>(1);
  Look look;
};

TEST(Claims, AreAskedForOnceEachAndForgotten) {
  Room room(kLimited);
  room.tick();
  ASSERT_EQ(room.api.pending.size(), 2u)
      << "of the claim and of the template, not of the inline one";
  EXPECT_EQ(client::describe(room.api.next()), "get persistentvolumeclaims d/data-0");
  room.api.reply(200, R"({"metadata":{"name":"data-0"},"spec":{"volumeName":"pvc-7"}})");
  EXPECT_EQ(client::describe(room.api.next()), "get persistentvolumeclaims d/db-tmp");
  room.api.reply(200, R"({"metadata":{"name":"db-tmp"},"spec":{}})");
  room.owner.drain();
  EXPECT_EQ(room.claims.volumes(), (ClaimVolumes{{"d/data-0", "pvc-7"}}));
  room.tick();
  EXPECT_TRUE(room.api.pending.empty()) << "the second is not bound yet";
  room.tick(31s);
  EXPECT_EQ(room.api.pending.size(), 1u);
  room.look.pods = {};
  room.tick();
  EXPECT_TRUE(room.claims.volumes().empty());
}

TEST(Claims, NobodyAsksForOtherPods) {
  Room room("{}");
  room.tick();
  EXPECT_TRUE(room.api.pending.empty());
}

TEST(Claims, LeadToTheDiskOfAVolume) {
  testing::MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
  bench.slo(R"("resourceQOSStrategy":{})");
  bench.start();
  bench.seconds(1);
  Room room(kLimited);
  kernel::BlockDevices disks;
  const std::string folder = "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/";
  disks.mounts = {{folder + "pvc-7/mount", "8:0"}, {folder + "pvc-8/mount", "8:16"}};
  Look now = bench.scene->agent().look();
  now.pods = room.look.pods;
  now.blocks = &disks;
  const auto decide = [&](const ClaimVolumes& volumes) {
    now.claims = &volumes;
    return Blkio().decide(
        {now, bench.scene->agent().node().get(), nullptr, bench.enforcer->picture(), bench.gates});
  };
  const Wishes out = decide({{"d/data-0", "pvc-8"}});
  ASSERT_FALSE(out.values.empty()) << out.note;
  EXPECT_EQ(out.values.front().entry, "8:16");
  EXPECT_TRUE(decide({}).values.empty()) << "which of the two is not known yet";
}

}  // namespace
}  // namespace mangrove::agent
