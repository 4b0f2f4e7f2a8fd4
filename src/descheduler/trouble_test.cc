// Jobs in trouble: the process ends after each of its writes, the server answers 429, 409 and 5xx, a
// budget opens late, a reservation expires. Nobody leaves without an Available reservation, no job
// is stuck and no reservation is left behind.
#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
using testing::WholeDescheduler;
namespace kind = client::kind;

class Troubled : public WholeDescheduler, public ::testing::WithParamInterface<int> {
 protected:
  // What scheduler and ReplicaSet do, and what must always hold.
  void neighbours() {
    if (!available_) {
      EXPECT_TRUE(hasPod("p0")) << "evicted without an Available reservation";
    }
    if (reservations() == 1 && !available_) {
      available_ = true;
      reservationIs("Available", "cold");
    }
    if (available_ && !replaced_ && !hasPod("p0")) {
      replaced_ = true;
      pod("p0-new", "cold");
      reservationIs("Succeeded", "cold", "p0-new");
    }
  }
  static bool isWrite(const net::HttpRequest& request) {
    return request.method != "GET" && request.target.find("events") == std::string::npos;
  }
  static net::HttpResponse refusal(int status, const std::string& why) {
    return net::HttpResponse::json(
        status, fmt::format(R"({{"kind":"Status","status":"Failure","reason":"{}","code":{}}})",
                            why, status));
  }
  bool available_ = false, replaced_ = false;
};

TEST_P(Troubled, TheProcessEndsAfterAWriteAndTheNextOneGoesOn) {
  std::atomic<int> writes = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (isWrite(request)) ++writes;
    return std::nullopt;
  });
  start("ReservationFirst");
  bool killed = false;
  EXPECT_TRUE(until([&] {
    neighbours();
    if (!killed && writes >= GetParam()) {
      killed = true;
      descheduler.reset();
      start("ReservationFirst", jobs().empty() ? "LowNodeLoad" : "");
    }
    return phase() == "Succeeded";
  })) << phase()
      << " " << reasonOf();
  EXPECT_EQ(jobs().size(), 1U);
  EXPECT_EQ(jobs()[0].status.podRef->name, "p0-new");
}
// A whole way has about ten writes: job, arbitration, Running, reservation, its name, conditions,
// intent, eviction, sent, gone, bound.
INSTANTIATE_TEST_SUITE_P(EveryWrite, Troubled, ::testing::Range(1, 13));

// Without a place kept: the pod leaves once, and the job that says so ends.
class Direct : public Troubled {};
TEST_P(Direct, TheProcessEndsAfterAWriteAndThePodLeavesOnce) {
  std::atomic<int> writes = 0, evictions = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") != std::string::npos) ++evictions;
    if (isWrite(request)) ++writes;
    return std::nullopt;
  });
  start("EvictDirectly");
  bool killed = false;
  EXPECT_TRUE(until([&] {
    if (!killed && writes >= GetParam()) {
      killed = true;
      descheduler.reset();
      start("EvictDirectly", jobs().empty() ? "LowNodeLoad" : "");
    }
    return phase() == "Succeeded";
  })) << phase()
      << " " << reasonOf();
  EXPECT_FALSE(hasPod("p0"));
  EXPECT_EQ(evictions, 1);
  EXPECT_EQ(jobs().size(), 1U);
  EXPECT_EQ(reservations(), 0U);
}
// Job, arbitration, Running with the intent, eviction, sent, gone.
INSTANTIATE_TEST_SUITE_P(EveryWrite, Direct, ::testing::Range(1, 7));

// Who evicts at once has no job that could repeat it: the next cycle does.
TEST_F(Troubled, TheDefaultEvictorTriesAgainInItsNextCycle) {
  std::atomic<int> asked = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos) return std::nullopt;
    if (++asked == 1) return refusal(429, "TooManyRequests");
    return std::nullopt;
  });
  startDirect("{}");
  EXPECT_TRUE(until([&] { return !hasPod("p0"); }, 20ms));
  EXPECT_GE(asked, 2);
  EXPECT_TRUE(jobs().empty());
  EXPECT_EQ(reservations(), 0U);
  EXPECT_NE(metrics.exposition().find(
                R"(descheduler_moves_total{basis="unproven",mode="DefaultEvictor"})"),
            std::string::npos)
      << "counted apart from proven ones";
}

class Refused : public Troubled {};
TEST_P(Refused, TheServerRefusesNowAndThen) {
  std::atomic<int> writes = 0;
  const int every = GetParam();
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (!isWrite(request)) return std::nullopt;
    const int number = ++writes;
    if (number > 16 || number % every != 0) return std::nullopt;
    switch (number / every % 4) {
      case 0:
        return refusal(429, "TooManyRequests");
      case 1:
        return refusal(409, "Conflict");
      case 2:
        return refusal(500, "InternalError");
      default:
        return refusal(503, "ServiceUnavailable");
    }
  });
  start("ReservationFirst");
  EXPECT_TRUE(until(
      [&] {
        neighbours();
        return phase() == "Succeeded";
      },
      20ms))
      << phase() << " " << reasonOf();
}
INSTANTIATE_TEST_SUITE_P(EveryNth, Refused, ::testing::Values(2, 3, 5));

TEST_F(Troubled, ABudgetThatOpensInTimeIsEnough) {
  std::atomic<int> refused = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos || ++refused > 4) return std::nullopt;
    return refusal(429, "TooManyRequests");
  });
  start("ReservationFirst");
  EXPECT_TRUE(until(
      [&] {
        neighbours();
        return phase() == "Succeeded";
      },
      20ms))
      << phase() << " " << reasonOf();
  EXPECT_GT(refused, 4);
}

TEST_F(Troubled, AReservationThatExpiresInBetweenEndsTheJobAndNobodyLeaves) {
  std::atomic<int> refused = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos) return std::nullopt;
    ++refused;
    return refusal(429, "TooManyRequests");
  });
  start("ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1; }));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return refused > 0; }));
  const auto [name, text] = *api.truth(kind::kReservation).begin();
  json::Value object = *json::parse(text);
  object.as_object()["status"] = *json::parse(
      R"({"phase":"Failed","nodeName":"cold","conditions":[{"type":"Scheduled","status":"True"},{"type":"Ready","status":"False","reason":"Expired"}]})");
  api.put(kind::kReservation, "", name, json::write(object));
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }, 20ms));
  EXPECT_EQ(reasonOf(), "ReservationExpired");
  EXPECT_TRUE(hasPod("p0"));
  EXPECT_TRUE(until([&] { return reservations() == 0; })) << "nothing is left behind";
}

}  // namespace
}  // namespace mangrove::descheduler
