#include "api/annotations/checkpoint.h"

#include <gtest/gtest.h>

namespace mangrove::api {
namespace {

using Step = CheckpointStep::Step;
using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kNow = *parseTime("2026-11-17T15:00:00Z");

Annotations saying(std::string_view contract, std::string_view last = "",
                   const std::optional<CheckpointRequest>& request = {}) {
  Annotations out;
  if (!contract.empty()) out.set(annotation::kCheckpoint, contract);
  if (!last.empty()) out.set(annotation::kCheckpointLast, last);
  if (request) out.set(annotation::kCheckpointRequest, annotationText(*request));
  return out;
}

TEST(Checkpoint, ReadsTheWholeContract) {
  const auto said = parseCheckpoint(saying(
      R"({"mode":"http","url":"/save?now=1","port":8080,"intervalSeconds":600,)"
      R"("lastTime":"2026-11-17T14:55:00Z","maxSeconds":30,"restartSeconds":90,"container":"main"})"));
  ASSERT_TRUE(said && *said);
  EXPECT_EQ((*said)->mode, Checkpoint::Mode::kHttp);
  EXPECT_EQ((*said)->url, "/save?now=1");
  EXPECT_EQ((*said)->port, 8080);
  EXPECT_EQ((*said)->interval, Duration(seconds(600)));
  EXPECT_EQ((*said)->last, kNow - minutes(5));
  EXPECT_EQ((*said)->maxWait, Duration(seconds(30)));
  EXPECT_EQ((*said)->restart, Duration(seconds(90)));
  EXPECT_EQ((*said)->container, "main");
  EXPECT_FALSE(*parseCheckpoint({}));
}

TEST(Checkpoint, WhatMakesNoSenseIsNamed) {
  const struct {
    const char *text, *want;
  } cases[] = {
      {R"({"mode":"maybe"})", "mode: 'maybe', want none, signal, http or operator"},
      {R"({"mode":"signal","signal":"SIGKILL"})",
       "signal: 'SIGKILL', want SIGUSR1, SIGUSR2 or SIGHUP"},
      {R"({"mode":"http","port":70000})", "port: 70000, want 1 to 65535"},
      {R"({"mode":"http","url":"http://elsewhere/","port":1})",
       "url: 'http://elsewhere/', want a path such as /checkpoint"},
      {R"({"mode":"http","url":"/a\r\nHost: b","port":1})", "want a path such as /checkpoint"},
      {R"({"mode":"http"})", "mode http needs a port"},
      {R"({"maxSeconds":-1})", "maxSeconds: -1, want seconds from 0 to a week"},
      {R"({"lastTime":"yesterday"})", "lastTime: 'yesterday'"},
      {R"([1])", "want an object"},
  };
  for (const auto& c : cases) {
    const auto said = parseCheckpoint(saying(c.text));
    ASSERT_FALSE(said) << c.text;
    EXPECT_NE(said.error().text().find(c.want), std::string::npos)
        << c.text << ": " << said.error().text();
    const SaidCheckpoint all = saidCheckpoint(saying(c.text));
    EXPECT_FALSE(all.contract) << "what cannot be read is not followed";
    EXPECT_NE(all.trouble, "");
  }
}

TEST(Checkpoint, TheNewestDateCounts) {
  const char* old = R"({"mode":"signal","lastTime":"2026-11-17T14:00:00Z"})";
  EXPECT_EQ(saidCheckpoint(saying(old)).last, kNow - minutes(60));
  EXPECT_EQ(saidCheckpoint(saying(old, "2026-11-17T14:30:00Z")).last, kNow - minutes(30));
  EXPECT_EQ(saidCheckpoint(saying(old, "2026-11-17T13:30:00Z")).last, kNow - minutes(60));
  const SaidCheckpoint wrong = saidCheckpoint(saying(old, "soon"));
  EXPECT_EQ(wrong.last, kNow - minutes(60));
  EXPECT_NE(wrong.trouble.find("checkpoint-last"), std::string::npos);
}

TEST(Checkpoint, StepsOfAnEviction) {
  const char* signal = R"({"mode":"signal","maxSeconds":60})";
  const CheckpointRequest asked{kNow - seconds(30), kNow - seconds(30), kNow + seconds(30), "x",
                                ""};
  const CheckpointRequest missed{kNow - minutes(5), kNow - minutes(5), kNow - minutes(4), "x", ""};
  const CheckpointRequest old{kNow - minutes(25), kNow - minutes(25), kNow - minutes(24), "x", ""};
  const struct {
    const char* what;
    Annotations said;
    Step step;
  } cases[] = {
      {"says nothing", saying(""), Step::kNothingToSave},
      {"cannot save", saying(R"({"mode":"none"})"), Step::kNothingToSave},
      {"was not asked", saying(signal), Step::kAsk},
      {"a date of long ago does not count", saying(signal, "2026-11-17T14:00:00Z"), Step::kAsk},
      {"was asked", saying(signal, "2026-11-17T14:00:00Z", asked), Step::kWait},
      {"has saved", saying(signal, "2026-11-17T14:59:40Z", asked), Step::kSaved},
      {"in the same second", saying(signal, "2026-11-17T14:59:30Z", asked), Step::kSaved},
      {"did not answer", saying(signal, "", missed), Step::kTooLate},
      {"answered late", saying(signal, "2026-11-17T14:59:59Z", missed), Step::kSaved},
      {"long forgotten", saying(signal, "", old), Step::kAsk},
  };
  for (const auto& c : cases)
    EXPECT_EQ(stepOf(saidCheckpoint(c.said), kNow).step, c.step) << c.what;
}

TEST(Checkpoint, OneThatIsDueIsWaitedFor) {
  const auto request = [](const char* contract, const char* last) {
    return requestFor(saidCheckpoint(saying(contract, last)), "me", "why", kNow);
  };
  const char* ten = R"({"mode":"signal","intervalSeconds":600,"maxSeconds":20})";
  const auto soon = request(ten, "2026-11-17T14:50:45Z");
  EXPECT_EQ(soon.at, kNow);
  EXPECT_EQ(soon.notBefore, kNow + seconds(45));
  EXPECT_EQ(soon.deadline, kNow + seconds(65));
  EXPECT_EQ(request(ten, "2026-11-17T14:55:00Z").notBefore, kNow) << "too far away";
  EXPECT_EQ(request(ten, "2026-11-17T14:30:00Z").notBefore, kNow) << "overdue";
  EXPECT_EQ(request(R"({"mode":"signal","maxSeconds":900})", "").deadline, kNow + seconds(120));
}

TEST(Checkpoint, ARequestReadsAsItWasWritten) {
  const CheckpointRequest asked{kNow, kNow + seconds(5), kNow + seconds(65), "koordlet",
                                "CPUEvict"};
  const Annotations said = saying(R"({"mode":"signal"})", "", asked);
  EXPECT_EQ(saidCheckpoint(said).request, asked);
  EXPECT_NE(requestPatch(asked).find(R"("colocation.mangrove.io/checkpoint-request":"{\"at\":)"),
            std::string::npos)
      << requestPatch(asked);
}

}  // namespace
}  // namespace mangrove::api
