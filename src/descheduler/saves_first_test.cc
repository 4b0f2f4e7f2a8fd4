// Before a pod is moved it is asked to save (gate CheckpointPreemption).
#include "api/annotations/checkpoint.h"
#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;

class SavesFirst : public testing::WholeDescheduler {
 protected:
  void saver() {
    annotate(api::annotation::kCheckpoint,
             R"({"mode":"signal","maxSeconds":30,"restartSeconds":10})");
  }
  void annotate(std::string_view name, const std::string& value) {
    json::Value object = *json::parse(api.truth(kind::kPod).at("d/p0"));
    auto& annotations = object.as_object()["metadata"].as_object()["annotations"];
    if (!annotations.is_object()) annotations.emplace_object();
    annotations.as_object()[name] = value;
    api.put(kind::kPod, "d", "p0", json::write(object));
  }
  api::SaidCheckpoint said() const {
    return api::saidCheckpoint(
        api::decodeText<api::Pod>(api.truth(kind::kPod).at("d/p0"))->meta.annotations);
  }
  bool isAsked() const { return said().request.has_value(); }
  void begin(bool gate) {
    savesFirst = gate;
    job("j", "EvictDirectly");
    start("EvictDirectly", "");
  }
};

TEST_F(SavesFirst, ThePodGoesWhenItHasSaved) {
  saver();
  begin(true);
  ASSERT_TRUE(until([&] { return isAsked(); }));
  EXPECT_EQ(said().request->by, "koord-descheduler");
  EXPECT_EQ(said().request->reason, "Migration");
  EXPECT_TRUE(hasPod("p0"));
  annotate(api::annotation::kCheckpointLast, formatTime(clock.wall() + std::chrono::seconds(1)));
  EXPECT_TRUE(until([&] { return !hasPod("p0"); }));
  EXPECT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << " " << reasonOf();
}

TEST_F(SavesFirst, ThePodStaysWhenItHasNotInTime) {
  saver();
  begin(true);
  EXPECT_TRUE(until([&] { return phase() == "Failed"; }, std::chrono::milliseconds(100)));
  EXPECT_EQ(reasonOf(), "NotSaved");
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(SavesFirst, WithoutTheGateNobodyIsAsked) {
  saver();
  begin(false);
  EXPECT_TRUE(until([&] { return !hasPod("p0"); }));
}

TEST_F(SavesFirst, WhoHasNothingToSaveGoesAtOnce) {
  begin(true);
  EXPECT_TRUE(until([&] { return !hasPod("p0"); }));
}

}  // namespace
}  // namespace mangrove::descheduler
