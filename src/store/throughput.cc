#include "store/throughput.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <sys/resource.h>

namespace mangrove::store {
namespace {

Duration cpuOfProcess() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

Duration quantile(std::vector<Duration>& sorted, double q) {
  return sorted.empty() ? Duration{} : sorted[static_cast<size_t>(q * double(sorted.size() - 1))];
}

class Run {
 public:
  Run(Store& store, Clock& clock, const Load& load)
      : store_(store), clock_(clock), load_(load), pods_("pods.v1"), fill_(load.bodyBytes, 'x') {}

  void begin() {
    while (!error_ && begun_ < load_.creates && begun_ - done_ < load_.inFlight) beginOne();
  }
  bool finished() const { return error_ ? begun_ == done_ : done_ == load_.creates; }
  const std::optional<Error>& error() const { return error_; }
  std::vector<Duration>& latencies() { return latencies_; }

 private:
  void beginOne() {
    Txn txn;
    const std::string name = fmt::format("bench-{:08}", begun_);
    txn.create({pods_, load_.ns, name}, bodyOf(name, store_.nextRevision()));
    const MonoTime from = clock_.mono();
    auto taken = store_.commit(std::move(txn), [this, from](Result<Revision> r) {
      done_ += 1;
      if (!r) error_ = r.error();
      latencies_.push_back(clock_.mono() - from);
      begin();
    });
    if (taken)
      begun_ += 1;
    else
      error_ = taken.error();
  }
  Body bodyOf(const std::string& name, Revision revision) const {
    std::string text =
        fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"{}",)"
                    R"("resourceVersion":"{}","labels":{{"app":"bench"}}}},"data":")",
                    name, load_.ns, revision.v);
    text.append(fill_, 0,
                load_.bodyBytes > text.size() + 2 ? load_.bodyBytes - text.size() - 2 : 0);
    return std::make_shared<const std::string>(text.append("\"}"));
  }

  Store& store_;
  Clock& clock_;
  const Load& load_;
  Interned pods_;
  std::string fill_;
  size_t begun_ = 0, done_ = 0;
  std::optional<Error> error_;
  std::vector<Duration> latencies_;
};

}  // namespace

double Throughput::perSecond() const {
  return elapsed.count() == 0 ? 0 : double(creates) * 1e9 / double(elapsed.count());
}

Result<Throughput> measureCreates(Store& store, Mailbox& owner, Clock& clock, const Load& load) {
  Run run(store, clock, load);
  const size_t batches = store.stats().batches;
  const Duration cpu = cpuOfProcess();
  const MonoTime from = clock.mono();
  run.begin();
  while (!run.finished()) owner.runOne(std::chrono::milliseconds(100));
  Throughput measured{load.creates, store.stats().batches - batches, clock.mono() - from,
                      cpuOfProcess() - cpu};
  if (run.error()) return pass(*run.error());
  std::sort(run.latencies().begin(), run.latencies().end());
  measured.p50 = quantile(run.latencies(), 0.5);
  measured.p99 = quantile(run.latencies(), 0.99);
  return measured;
}

}  // namespace mangrove::store
