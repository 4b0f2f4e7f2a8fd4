// When probes are asked and what is told, in virtual time.
#include "runtime/node/pods/prober.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::runtime {
namespace {

using namespace std::chrono_literals;

class ProberTest : public ::testing::Test {
 protected:
  void probe(std::string_view container) {
    auto decoded = api::decodeText<RunPod>(
        fmt::format(R"({{"metadata":{{"name":"web"}},"spec":{{"containers":[{}]}}}})", container));
    ASSERT_TRUE(decoded) << decoded.error().text();
    pod_ = *decoded;
    specs_ = containersOf(pod_);
    prober_ = std::make_unique<Prober>(
        ProbeDesk{owner_, clock_,
                  [this](const std::string&) { return specs_.empty() ? nullptr : &specs_[0]; },
                  [this](const std::string&, const api::Action& action, Duration,
                         UniqueFn<void(ActionResult)> done) {
                    log(action.exec ? action.exec->command.front() : "?");
                    if (silent_) {
                      open_.push_back(std::move(done));
                    } else {
                      done({good_, "said"});
                    }
                  },
                  [this](const std::string&, const ProbeNews& news) {
                    log(fmt::format("{}{}{}", probeName(news.kind), news.good ? "+" : "-",
                                    news.verdict ? "!" : ""));
                    if (news.kind == ProbeKind::kStartup && news.good) prober_->startupPassed("a");
                  }});
    prober_->begin("a");
  }
  void log(std::string what) {
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(clock_.mono() - start_);
    got_ += fmt::format("{}:{} ", at.count(), what);
  }
  std::string after(Duration time) {
    for (Duration passed = 0s; passed < time; passed += 1s) {
      clock_.advance(1s);
      while (owner_.drain() > 0) {
      }
    }
    return std::exchange(got_, "");
  }

  VirtualClock clock_;
  const MonoTime start_ = clock_.mono();
  Mailbox owner_;
  RunPod pod_;
  std::vector<ContainerSpec> specs_;
  bool good_ = true, silent_ = false;
  std::vector<UniqueFn<void(ActionResult)>> open_;
  std::string got_;
  std::unique_ptr<Prober> prober_;
};

TEST_F(ProberTest, AsksAfterTheDelayAndThenInPeriods) {
  probe(R"({"name":"a","livenessProbe":{"exec":{"command":["live"]},"initialDelaySeconds":3,
            "periodSeconds":2,"failureThreshold":2}})");
  good_ = false;
  EXPECT_EQ(after(2s), "");
  EXPECT_EQ(after(5s), "3:live 3:Liveness- 5:live 5:Liveness-! 7:live 7:Liveness-! ");
}

TEST_F(ProberTest, LetsOthersWaitForTheStart) {
  probe(R"({"name":"a","startupProbe":{"exec":{"command":["up"]},"periodSeconds":5},
            "readinessProbe":{"exec":{"command":["ready"]},"initialDelaySeconds":1},
            "livenessProbe":{"exec":{"command":["live"]},"initialDelaySeconds":2}})");
  good_ = false;
  EXPECT_EQ(after(3s), "1:up 1:Startup- ");
  good_ = true;
  EXPECT_EQ(after(6s), "6:up 6:Startup+! 7:ready 7:Readiness+! 8:live 8:Liveness+! ");
}

TEST_F(ProberTest, SaysNothingOfWhatWasStopped) {
  probe(R"({"name":"a","livenessProbe":{"exec":{"command":["live"]},"periodSeconds":1}})");
  silent_ = true;
  EXPECT_EQ(after(2s), "1:live ");  // no second question before the first has its answer
  prober_->stop("a");
  prober_->begin("a");  // the next run: the answer to the question of the last is none of its own
  open_.front()({false, "late"});
  EXPECT_EQ(std::exchange(got_, ""), "");
  EXPECT_EQ(after(1s), "3:live ");
  prober_.reset();
  open_.back()({false, "too late"});
  EXPECT_EQ(got_, "");
}

}  // namespace
}  // namespace mangrove::runtime
