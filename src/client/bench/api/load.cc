#include "client/bench/api/load.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace mangrove::client {

namespace {

double millisBetween(MonoTime from, MonoTime to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

CpuReading difference(const CpuReading& to, const CpuReading& from) {
  return {to.serverSeconds - from.serverSeconds, to.clientSeconds - from.clientSeconds,
          to.machineSeconds - from.machineSeconds, to.machineTotal - from.machineTotal};
}

// Several clients may answer from several threads; what they share is small.
class ClosedLoop {
 public:
  ClosedLoop(const Clients& clients, const ProcessProbe& probe, const LoadPlan& plan,
             std::function<Chain(int64_t)> make)
      : clients_(clients),
        probe_(probe),
        plan_(plan),
        make_(std::move(make)),
        warm_(plan.warmUp ? plan.operations / 10 : 0) {
    result_.millis.reserve(static_cast<size_t>(plan.operations));
  }

  LoadResult run() {
    if (warm_ == 0) beginCounting();
    const int64_t first = std::min(plan_.inFlight, plan_.operations);
    for (int64_t i = 0; i < first; ++i) next(*clients_[static_cast<size_t>(i) % clients_.size()]);
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return answered_ == plan_.operations; });
    std::sort(result_.millis.begin(), result_.millis.end());
    return std::move(result_);
  }

 private:
  // Always with the client whose connection has just become free, so that none is closed as
  // superfluous.
  void next(ApiClient& client) {
    int64_t index;
    {
      std::lock_guard lock(mutex_);
      if (begun_ == plan_.operations) return;
      index = begun_++;
    }
    Chain chain = make_(index);
    std::reverse(chain.begin(), chain.end());
    send(client, realClock().mono(), std::move(chain));
  }

  // `left` are the requests of one operation, the next one last.
  void send(ApiClient& client, MonoTime begun, Chain left) {
    Request request = std::move(left.back());
    left.pop_back();
    client.submit(std::move(request),
                  [this, begun, &client, left = std::move(left)](Result<Reply> reply) mutable {
                    if (reply && !left.empty()) return send(client, begun, std::move(left));
                    answered(client, begun, reply);
                  });
  }

  void answered(ApiClient& client, MonoTime sent, const Result<Reply>& reply) {
    next(client);
    std::lock_guard lock(mutex_);
    answered_ += 1;
    if (!reply && result_.failed++ == 0) result_.firstFailure = reply.error().text();
    if (answered_ == warm_) return beginCounting();
    if (answered_ < warm_) return;
    result_.millis.push_back(millisBetween(sent, realClock().mono()));
    if (answered_ == plan_.operations) endCounting();
  }

  void beginCounting() {
    from_ = realClock().mono();
    cpuFrom_ = probe_.cpu();
  }
  void endCounting() {
    result_.counted = plan_.operations - warm_;
    result_.seconds = millisBetween(from_, realClock().mono()) / 1000;
    result_.used = difference(probe_.cpu(), cpuFrom_);
    finished_.notify_one();
  }

  const Clients& clients_;
  const ProcessProbe& probe_;
  const LoadPlan plan_;
  std::function<Chain(int64_t)> make_;
  const int64_t warm_;

  std::mutex mutex_;
  std::condition_variable finished_;
  int64_t begun_ = 0, answered_ = 0;
  MonoTime from_;
  CpuReading cpuFrom_;
  LoadResult result_;
};

}  // namespace

LoadResult runLoad(const Clients& clients, const ProcessProbe& probe, const LoadPlan& plan,
                   std::function<Request(int64_t)> make) {
  return runChains(clients, probe, plan, [make = std::move(make)](int64_t i) {
    Chain one;
    one.push_back(make(i));
    return one;
  });
}

LoadResult runChains(const Clients& clients, const ProcessProbe& probe, const LoadPlan& plan,
                     std::function<Chain(int64_t)> make) {
  return ClosedLoop(clients, probe, plan, std::move(make)).run();
}

}  // namespace mangrove::client
