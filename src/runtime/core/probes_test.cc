// What probes decide, as tables.
#include "runtime/core/probes.h"

#include <gtest/gtest.h>

namespace mangrove::runtime {
namespace {

TEST(ProbeCount, CountsInARow) {
  // Answers one after the other, and whether each is a verdict.
  const struct {
    int successes, failures;
    const char* answers;   // + good, - bad
    const char* verdicts;  // v: counts
  } cases[] = {
      {1, 3, "+", "v"},            // one good answer is enough
      {1, 3, "--+---", "..v..v"},  // a good one in between begins the count of bad ones anew
      {2, 3, "+-++", "...v"},      // and the other way round
      {1, 1, "-+-", "vvv"},       {1, 3, "-----", "..vvv"},  // every further one counts, too
  };
  for (const auto& c : cases) {
    ProbeCount count;
    std::string got;
    for (const char* at = c.answers; *at; ++at)
      got += (*at == '+' ? count.passed(c.successes) : count.failed(c.failures)) ? 'v' : '.';
    EXPECT_EQ(got, c.verdicts) << c.answers;
  }
}

TEST(ProbeEffect, ByKindAnswerAndVerdict) {
  const ProbeEffect nothing;
  const struct {
    ProbeKind kind;
    bool good, verdict, hasReadiness;
    ProbeEffect want;
  } cases[] = {
      {ProbeKind::kReadiness, true, true, true, {.ready = true}},
      {ProbeKind::kReadiness, false, true, true, {.ready = false}},
      {ProbeKind::kReadiness, false, false, true, nothing},
      {ProbeKind::kLiveness, true, true, true, nothing},
      {ProbeKind::kLiveness, false, true, false, {.restart = true}},
      {ProbeKind::kLiveness, false, false, false, nothing},
      // Once started it is ready, unless a probe of its own has to say so.
      {ProbeKind::kStartup, true, true, false, {.started = true, .ready = true}},
      {ProbeKind::kStartup, true, true, true, {.started = true, .ready = false}},
      {ProbeKind::kStartup, false, true, true, {.restart = true}},
      {ProbeKind::kStartup, true, false, true, nothing},
  };
  for (const auto& c : cases)
    EXPECT_EQ(effectOf({c.kind, c.good, c.verdict}, c.hasReadiness), c.want)
        << probeName(c.kind) << " good " << c.good << " verdict " << c.verdict;
}

TEST(ProbeStanding, BeforeAnybodyHasAsked) {
  const struct {
    bool startup, readiness;
    Standing heard, want;
  } cases[] = {
      {false, false, {}, {true, true}},
      {false, true, {}, {true, false}},
      {true, false, {}, {false, false}},
      {true, true, {}, {false, false}},
      // After another start of the runner, what it had heard holds on.
      {true, true, {true, true}, {true, true}},
      {true, true, {true, false}, {true, false}},
      {true, true, {false, true}, {false, false}},
      {false, true, {false, true}, {true, true}},
  };
  for (const auto& c : cases)
    EXPECT_EQ(standingOf(c.startup, c.readiness, c.heard), c.want)
        << c.startup << c.readiness << c.heard.started << c.heard.ready;
}

}  // namespace
}  // namespace mangrove::runtime
