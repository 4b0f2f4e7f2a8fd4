#include "client/lease/leader_election.h"

#include <gtest/gtest.h>

#include "base/os/log.h"
#include "json/merge_patch.h"
#include "json/value.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

ElectionConfig config(const std::string& identity) {
  ElectionConfig out;
  out.name = "manager";
  out.identity = identity;
  return out;
}

MonoTime at(Duration d) {
  return MonoTime{} + 1h + d;
}

SeenLease heldBy(const std::string& holder, Duration seenAt, int seconds = 15) {
  api::Lease lease;
  lease.holderIdentity = holder;
  lease.leaseDurationSeconds = seconds;
  return {lease, at(seenAt)};
}

TEST(ElectionRules, whoMayTakeTheLeaseWhen) {
  struct Case {
    const char* why;
    SeenLease seen;
    Duration now;
    ElectionStep wanted;
  };
  const Case cases[] = {
      {"ours", heldBy("me", 0s), 100s, ElectionStep::kRenew},
      {"nobody's", heldBy("", 0s), 0s, ElectionStep::kTake},
      {"just seen", heldBy("other", 0s), 0s, ElectionStep::kWait},
      {"almost over", heldBy("other", 0s), 14999ms, ElectionStep::kWait},
      {"over", heldBy("other", 0s), 15s, ElectionStep::kTake},
      {"holder promised longer", heldBy("other", 0s, 60), 59s, ElectionStep::kWait},
      {"holder promised longer, over", heldBy("other", 0s, 60), 60s, ElectionStep::kTake},
      {"holder promised shorter", heldBy("other", 0s, 1), 14s, ElectionStep::kWait},
  };
  for (const auto& one : cases)
    EXPECT_EQ(electionStep(config("me"), one.seen, at(one.now)), one.wanted) << one.why;
}

TEST(ElectionRules, theTimeOfAnUnchangedLeaseRunsOn) {
  SeenLease first = heldBy("other", 0s);
  SeenLease again = see(first, first.lease, at(9s));
  EXPECT_EQ(again.at, at(0s));
  api::Lease renewed = first.lease;
  renewed.renewTime += 1s;
  EXPECT_EQ(see(first, renewed, at(9s)).at, at(9s));
  EXPECT_EQ(see(std::nullopt, renewed, at(9s)).at, at(9s));
}

TEST(ElectionRules, writesWhoSinceWhenAndHowOften) {
  WallTime now = WallTime{} + 1000h;
  api::Lease other = heldBy("other", 0s).lease;
  other.leaseTransitions = 4;
  api::Lease taken = claimed(config("me"), other, now);
  EXPECT_EQ(taken.holderIdentity, "me");
  EXPECT_EQ(taken.leaseTransitions, 5);
  EXPECT_EQ(taken.acquireTime, now);
  EXPECT_EQ(taken.leaseDurationSeconds, 15);
  api::Lease renewed = claimed(config("me"), taken, now + 2s);
  EXPECT_EQ(renewed.leaseTransitions, 5);
  EXPECT_EQ(renewed.acquireTime, now);
  EXPECT_EQ(renewed.renewTime, now + 2s);
  api::Lease free = released(renewed, now + 3s);
  EXPECT_EQ(free.holderIdentity, "");
  EXPECT_EQ(free.leaseTransitions, 5);
}

TEST(ElectionRules, refusesTimesThatCannotWork) {
  EXPECT_TRUE(checkElection(config("me")));
  auto bad = config("me");
  bad.renewDeadline = 15s;
  EXPECT_NE(checkElection(bad).error().text().find("must be longer than renew deadline"),
            std::string::npos);
  bad = config("me");
  bad.retryPeriod = 9s;
  EXPECT_FALSE(checkElection(bad));
  EXPECT_FALSE(checkElection(config("")));
}

// One Lease behind an API with versions, in virtual time, with bad manners on demand.
class LeaseServer {
 public:
  Result<Reply> handle(const Request& request) {
    if (request.verb == Verb::kGet)
      return object_.is_null() ? refuse(404, "NotFound", request) : answer();
    if (request.verb == Verb::kCreate) {
      if (!object_.is_null()) return refuse(409, "AlreadyExists", request);
      object_ = *json::parse(request.body);
      return stamped();
    }
    if (object_.is_null()) return refuse(404, "NotFound", request);
    json::Value patch = *json::parse(request.body);
    if (patch.at("metadata").at("resourceVersion") != object_.at("metadata").at("resourceVersion"))
      return refuse(409, "Conflict", request);
    json::applyMergePatch(object_, patch);
    return stamped();
  }
  std::string holder() const {
    return object_.is_null() ? ""
                             : std::string(object_.at("spec").at("holderIdentity").as_string());
  }
  void erase() { object_ = nullptr; }
  void touch() { (void)stamped(); }
  int version() const { return version_; }

  // Who watches, and the line of one event.
  std::vector<std::weak_ptr<WatchHandler>> listeners;
  std::string event() const {
    return R"({"type":"MODIFIED","object":)" + json::write(object_) + "}\n";
  }

 private:
  Result<Reply> stamped() {
    object_.at("metadata").as_object()["resourceVersion"] = std::to_string(++version_);
    for (const auto& listener : listeners)
      if (auto handler = listener.lock()) handler->onEvents(event());
    return answer();
  }
  Result<Reply> answer() const {
    Reply reply;
    reply.body = json::write(object_);
    return reply;
  }
  static Result<Reply> refuse(int code, const char* reason, const Request& request) {
    return Failure(Error(code == 404                              ? Code::kNotFound
                         : std::string_view(reason) == "Conflict" ? Code::kConflict
                                                                  : Code::kExists,
                         describe(request) + ": " + reason, code));
  }
  json::Value object_;
  int version_ = 0;
};

// One candidate's way to the server: answers take time, get lost, or nobody is there.
class Line final : public ApiClient {
 public:
  Line(LeaseServer& server, VirtualClock& clock) : server_(server), clock_(clock) {}
  using ApiClient::submit;
  void submit(Request request, Done done) override {
    ++requests;
    if (away) return later(fail(Code::kUnavailable, "connection refused"), std::move(done));
    auto reply = server_.handle(request);
    if (loseAnswers) reply = fail(Code::kTimeout, "no answer");
    later(std::move(reply), std::move(done));
  }
  std::unique_ptr<Watch> watch(WatchRequest, WatchHandler handler) override {
    if (!hears) return nullptr;
    auto ear = std::make_unique<Ear>();
    ear->handler = std::make_shared<WatchHandler>(std::move(handler));
    server_.listeners.push_back(ear->handler);
    return ear;
  }
  std::string server() const override { return "leases"; }

  bool away = false, loseAnswers = false;
  bool hears = false;  // watches work
  Duration delay = 5ms;
  int requests = 0;

 private:
  struct Ear final : Watch {
    void pause() override {}
    void resume() override {}
    std::shared_ptr<WatchHandler> handler;
  };
  void later(Result<Reply> reply, Done done) {
    auto shared =
        std::make_shared<std::pair<Result<Reply>, Done>>(std::move(reply), std::move(done));
    timers_.push_back(clock_.after(delay, [shared] { shared->second(std::move(shared->first)); }));
  }
  LeaseServer& server_;
  VirtualClock& clock_;
  std::vector<Timer> timers_;
};

struct Candidate {
  Candidate(const std::string& name, LeaseServer& server, VirtualClock& clock, uint64_t seed)
      : line(server, clock),
        election(config(name), line, owner, clock, seed,
                 {.started = [this] { ++started; },
                  .stopped = [this] { ++stopped; },
                  .newLeader = [this](const std::string& who) { leaders += who + " "; }}) {}
  Line line;
  Mailbox owner;
  int started = 0, stopped = 0;
  std::string leaders;
  LeaderElection election;
};

class ElectionTest : public ::testing::Test {
 protected:
  // Moves time in small steps; nobody may lead at the same time as somebody else.
  void run(Duration time) {
    for (Duration done{0}; done < time; done += kStep) {
      clock.advance(kStep);
      settle();
      EXPECT_LE(int{a.election.leading()} + int{b.election.leading()}, 1);
    }
  }
  void settle() {
    while (a.owner.drain() + b.owner.drain() > 0) {
    }
  }
  // Until `done`, at most a minute; returns how long it took.
  template <class F>
  Duration until(F done) {
    MonoTime start = clock.mono();
    while (!done() && clock.mono() - start < 1min) run(kStep);
    return clock.mono() - start;
  }
  void startBoth() {
    a.election.start();
    b.election.start();
    until([&] { return a.election.leading() || b.election.leading(); });
  }
  Candidate& leader() { return a.election.leading() ? a : b; }
  Candidate& other() { return a.election.leading() ? b : a; }

  static constexpr Duration kStep = 10ms;
  LogCapture quiet;
  VirtualClock clock{WallTime{} + 500000h};
  LeaseServer server;
  Candidate a{"a", server, clock, 1};
  Candidate b{"b", server, clock, 2};
};

TEST_F(ElectionTest, oneOfTwoLeadsAndKeepsLeading) {
  startBoth();
  run(5min);
  EXPECT_EQ(a.started + b.started, 1);
  EXPECT_EQ(a.stopped + b.stopped, 0);
  EXPECT_TRUE(a.election.leading() || b.election.leading());
  EXPECT_EQ(a.election.leader(), b.election.leader());
}

TEST_F(ElectionTest, theOtherTakesOverWhenTheLeaderCannotReachTheServer) {
  startBoth();
  Candidate& old = leader();
  Candidate& next = other();
  old.line.away = true;
  until([&] { return !old.election.leading(); });
  EXPECT_EQ(old.stopped, 1);
  Duration gap = until([&] { return next.election.leading(); });
  EXPECT_GT(gap, 3s) << "lease duration minus renew deadline, at least";
  EXPECT_LT(gap, 10s) << "5 s, and at most 4.4 s between a renewal and a candidate seeing it";
  old.line.away = false;
  run(1min);
  EXPECT_TRUE(next.election.leading()) << "the old one stays a follower";
  EXPECT_EQ(old.started, 1);
}

TEST_F(ElectionTest, aLeaderThatStopsHandsOverQuickly) {
  startBoth();
  Candidate& old = leader();
  Candidate& next = other();
  bool done = false;
  old.election.stop([&] { done = true; });
  EXPECT_EQ(old.stopped, 1);
  EXPECT_FALSE(old.election.leading());
  Duration gap = until([&] { return next.election.leading(); });
  EXPECT_TRUE(done);
  EXPECT_LT(gap, 5s);
}

// A renewal that was on its way when the leader stopped changes the version, as an edit does.
TEST_F(ElectionTest, aLeaderGivesBackALeaseThatChangedMeanwhile) {
  startBoth();
  bool done = false;
  Candidate& old = leader();
  server.touch();
  old.election.stop([&] { done = true; });
  until([&] { return done; });
  EXPECT_EQ(server.holder(), "");
}

// A role that lost its Lease ends; on the way out it stops competing at once and says so once more
// when its work is done.
TEST_F(ElectionTest, whoLostAndStopsDoesNotWinAgain) {
  a.election.start();
  until([&] { return a.election.leading(); });
  a.line.away = true;
  until([&] { return !a.election.leading(); });
  a.election.stop();
  a.line.away = false;
  run(1min);
  EXPECT_FALSE(a.election.leading());
  bool done = false;
  a.election.stop([&] { done = true; });
  run(1s);
  EXPECT_TRUE(done);
  EXPECT_EQ(a.started, 1);
  EXPECT_EQ(a.stopped, 1);
}

TEST_F(ElectionTest, whoWatchesTakesOverWithinTheLease) {
  a.line.hears = b.line.hears = true;
  startBoth();
  run(7s);
  Candidate& old = leader();
  Candidate& next = other();
  old.line.away = true;
  Duration gap = until([&] { return next.election.leading(); });
  EXPECT_GT(gap, 12s) << "the lease, counted from the last renewal, two seconds ago at most";
  EXPECT_LE(gap, 15s + 20ms);
}

// Killed at any moment of the pause between two renewals: the lease counts from the renewal, so
// that one request after its end is all that a hand-over can take more.
TEST_F(ElectionTest, whoWatchesClaimsWithOneRequestWhenTheTimeIsOver) {
  a.line.hears = b.line.hears = true;
  startBoth();
  for (auto phase : {0ms, 10ms, 700ms, 1300ms, 1990ms}) {
    Candidate& old = leader();
    Candidate& next = other();
    const int renewed = server.version();
    until([&] { return server.version() != renewed; });
    const MonoTime renewal = clock.mono();
    run(phase);
    old.line.away = true;
    next.line.delay = 200ms;  // a busy server
    until([&] { return clock.mono() >= renewal + 14900ms; });
    const int asked = next.line.requests;
    until([&] { return next.election.leading(); });
    EXPECT_EQ(next.line.requests - asked, 1) << "the claim alone";
    EXPECT_LE(clock.mono() - renewal, 15s + 200ms + 2 * kStep);
    old.line.away = false;
    next.line.delay = 5ms;
    run(5s);
  }
}

TEST_F(ElectionTest, aClaimOnAnOutdatedLeaseIsRefusedAndSettledByLooking) {
  a.line.hears = b.line.hears = true;
  startBoth();
  Candidate& next = other();
  server.listeners.clear();  // the watch stays open and dumb
  next.line.away = true;     // and nothing else tells of renewals
  run(14s);
  next.line.away = false;
  run(1min);
  EXPECT_EQ(a.started + b.started, 1);
  EXPECT_EQ(a.stopped + b.stopped, 0);
}

TEST_F(ElectionTest, anEditedLeaseDoesNotStartTheTimeOfADeadHolderAgain) {
  startBoth();
  Candidate& next = other();
  run(6s);
  leader().line.away = true;
  const MonoTime killed = clock.mono();
  const auto heldUp = [&] { return clock.mono() - killed > 9s; };
  until(heldUp);
  server.touch();  // somebody edits labels while the time runs
  until([&] { return next.election.leading(); });
  EXPECT_LE(clock.mono() - killed, 15s + 4400ms + 100ms) << "and at most a pause of not looking";
}

TEST_F(ElectionTest, whoWatchesTakesAReturnedLeaseAtOnce) {
  a.line.hears = b.line.hears = true;
  startBoth();
  Candidate& next = other();
  leader().election.stop();
  EXPECT_LE(until([&] { return next.election.leading(); }), 50ms);
  run(1min);
  EXPECT_EQ(next.stopped, 0);
}

TEST_F(ElectionTest, lostAnswersDoNotMakeTwoLeaders) {
  startBoth();
  for (int round = 0; round < 6; ++round) {
    Candidate& victim = round % 2 == 0 ? a : b;
    victim.line.loseAnswers = true;
    run(25s);
    victim.line.loseAnswers = false;
    run(25s);
  }
  EXPECT_TRUE(a.election.leading() || b.election.leading());
}

TEST_F(ElectionTest, slowAnswersCountFromWhenTheyWereAskedFor) {
  startBoth();
  Candidate& slow = leader();
  slow.line.delay = 9s;
  run(2min);
  slow.line.delay = 12s;  // a renewal now is worth nothing when it arrives
  run(2min);
}

TEST_F(ElectionTest, wallClockJumpsDoNotMatter) {
  startBoth();
  int started = a.started + b.started;
  for (Duration jump : {Duration(1h), Duration(-2h), Duration(24h * 400)}) {
    clock.stepWall(jump);
    run(40s);
  }
  EXPECT_EQ(a.started + b.started, started);
  EXPECT_EQ(a.stopped + b.stopped, 0);
}

TEST_F(ElectionTest, aFrozenLeaderKnowsThatItsTimeIsOver) {
  startBoth();
  Candidate& frozen = leader();
  Candidate& next = other();
  // Its owner thread does not run for 30 s; only the other one's does.
  for (Duration done{0}; done < 30s; done += kStep) {
    clock.advance(kStep);
    next.owner.drain();
    EXPECT_LE(int{a.election.leading()} + int{b.election.leading()}, 1);
  }
  EXPECT_TRUE(next.election.leading());
  EXPECT_FALSE(frozen.election.leading()) << "before it handled a single message";
  EXPECT_EQ(frozen.stopped, 0);
  settle();
  EXPECT_EQ(frozen.stopped, 1);
  run(1min);
}

TEST_F(ElectionTest, conflictsAreSettledByLooking) {
  startBoth();
  for (int i = 0; i < 20; ++i) {
    server.touch();  // somebody edits labels
    run(3s);
  }
  EXPECT_EQ(a.started + b.started, 1);
  EXPECT_EQ(a.stopped + b.stopped, 0);
}

TEST_F(ElectionTest, aDeletedLeaseIsMadeAgain) {
  startBoth();
  server.erase();
  run(30s);
  EXPECT_TRUE(a.election.leading() || b.election.leading());
  EXPECT_NE(server.holder(), "");
}

TEST_F(ElectionTest, followersAskAtAModestPace) {
  startBoth();
  run(10s);
  int before = other().line.requests;
  run(100s);
  int asked = other().line.requests - before;
  EXPECT_GE(asked, 20);
  EXPECT_LE(asked, 50);
}

TEST_F(ElectionTest, bothHearWhoLeads) {
  startBoth();
  run(10s);
  EXPECT_EQ(a.leaders, b.leaders);
}

}  // namespace
}  // namespace mangrove::client
