#include "sim/moment.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>

#include "stats/experiment.h"

namespace mangrove::sim {
namespace {

constexpr double kInstant = 0.00005;  // seconds; nothing is looked at more often
constexpr int64_t kNobody = -1;

// A request that can compute: the first or the second half of it.
struct Phase {
  size_t request = 0;
  double left = 0;
  bool isSecond = false;
};

// A thread of the service and the CPU it is on.
struct Server {
  bool isBusy = false;
  Phase phase = {};
  size_t cpu = 0;
};

struct Cpu {
  int64_t runs = kNobody;         // a server, or the number of servers + a batch worker
  double since = 0;               // of its slice
  std::deque<int64_t> line = {};  // who waits here
};

class Moment {
 public:
  explicit Moment(const MomentPlan& plan)
      : plan_(plan), cpus_(static_cast<size_t>(plan.cpus)), servers_(cpus_.size()) {
    for (size_t i = 0; i < servers_.size(); i++) servers_[i].cpu = i;
    if (plan.place == BatchPlace::kBeside)
      for (int64_t i = 0; i < plan.workers; i++)
        cpus_[static_cast<size_t>(i) % cpus_.size()].line.push_back(batch(i));
    out_.latencies.reserve(plan.requests.size());
  }

  MomentResult run() {
    const double end = plan_.length + 2;  // the last ones are waited for
    for (double now = 0; now < end && out_.latencies.size() < plan_.requests.size();
         now += kInstant) {
      arrive(now);
      wake();
      const bool isTick = std::fmod(now, plan_.tick) < kInstant;
      if (isTick) spread();
      for (Cpu& cpu : cpus_) choose(cpu, now, isTick);
      for (Cpu& cpu : cpus_) work(cpu, now);
      wait();
    }
    std::sort(out_.latencies.begin(), out_.latencies.end());
    out_.batchCores /= plan_.length;
    out_.serviceCores /= plan_.length;
    return std::move(out_);
  }

 private:
  int64_t batch(int64_t worker) const { return static_cast<int64_t>(servers_.size()) + worker; }
  bool isServer(int64_t who) const {
    return who >= 0 && who < static_cast<int64_t>(servers_.size());
  }

  void arrive(double now) {
    while (next_ < plan_.requests.size() && plan_.requests[next_].at <= now) {
      ready_.push_back({next_, plan_.requests[next_].work / 2, false});
      next_++;
    }
    while (!backends_.empty() && backends_.top().first <= now) {
      const size_t request = backends_.top().second;
      backends_.pop();
      ready_.push_back({request, plan_.requests[request].work / 2, true});
    }
  }

  // A sleeping thread takes the oldest and goes where a CPU is free, else where it was.
  void wake() {
    for (size_t i = 0; i < servers_.size() && !ready_.empty(); i++) {
      Server& server = servers_[i];
      if (server.isBusy) continue;
      server.isBusy = true;
      server.phase = ready_.front();
      ready_.pop_front();
      if (!isFree(cpus_[server.cpu]))
        for (size_t c = 0; c < cpus_.size(); c++)
          if (isFree(cpus_[c])) server.cpu = c;
      cpus_[server.cpu].line.push_back(static_cast<int64_t>(i));
    }
  }

  // Idle-class work counts as nobody for those who look for a place.
  bool isFree(const Cpu& cpu) const { return cpu.runs == kNobody && cpu.line.empty(); }

  // Who waits behind another moves to a CPU that has nobody.
  void spread() {
    for (Cpu& from : cpus_) {
      const auto waits = std::find_if(from.line.begin(), from.line.end(),
                                      [&](int64_t who) { return isServer(who); });
      if (from.runs == kNobody || waits == from.line.end()) continue;
      for (size_t c = 0; c < cpus_.size(); c++) {
        if (!isFree(cpus_[c])) continue;
        servers_[static_cast<size_t>(*waits)].cpu = c;
        cpus_[c].line.push_back(*waits);
        from.line.erase(waits);
        break;
      }
    }
  }

  void choose(Cpu& cpu, double now, bool isTick) {
    const bool isOver = isTick && now - cpu.since >= plan_.slice;
    if (cpu.runs != kNobody && !(isOver && !cpu.line.empty())) return;
    if (cpu.runs != kNobody) cpu.line.push_back(cpu.runs);
    cpu.runs = kNobody;
    if (cpu.line.empty()) return;
    cpu.runs = cpu.line.front();
    cpu.line.pop_front();
    cpu.since = now;
  }

  void work(Cpu& cpu, double now) {
    // What comes before everybody takes its share of every instant.
    const double time =
        kInstant * std::max(1 - plan_.system / static_cast<double>(plan_.cpus), 0.0);
    if (!isServer(cpu.runs)) {
      if (plan_.place != BatchPlace::kNone && now < plan_.length) out_.batchCores += time;
      return;
    }
    Server& server = servers_[static_cast<size_t>(cpu.runs)];
    if (now < plan_.length) out_.serviceCores += std::min(time, server.phase.left);
    server.phase.left -= time;
    if (server.phase.left > 0) return;
    finish(server.phase, now + kInstant);
    server.isBusy = false;
    cpu.runs = kNobody;
    // An empty CPU looks for work at once; one that has idle-class work does not.
    if (plan_.place == BatchPlace::kNone) spread();
    if (ready_.empty()) return;
    server.isBusy = true;  // it has not slept: the next request is its own
    server.phase = ready_.front();
    ready_.pop_front();
    cpu.line.push_back(&server - servers_.data());
  }

  void finish(const Phase& phase, double now) {
    const MomentRequest& request = plan_.requests[phase.request];
    if (!phase.isSecond) return backends_.emplace(now + request.backend, phase.request);
    out_.latencies.push_back(now - request.at + plan_.overhead);
  }

  // Everybody who could compute and does not.
  void wait() {
    size_t waiting = ready_.size();
    for (const Cpu& cpu : cpus_)
      waiting += static_cast<size_t>(std::count_if(cpu.line.begin(), cpu.line.end(),
                                                   [&](int64_t who) { return isServer(who); }));
    out_.stalled += static_cast<double>(waiting) * kInstant;
  }

  const MomentPlan& plan_;
  std::vector<Cpu> cpus_;
  std::vector<Server> servers_;
  std::deque<Phase> ready_;
  using Back = std::pair<double, size_t>;
  std::priority_queue<Back, std::vector<Back>, std::greater<>> backends_;
  size_t next_ = 0;
  MomentResult out_;
};

}  // namespace

double MomentResult::percentile(double share) const {
  return stats::quantile(latencies, share);
}

MomentResult liveThrough(const MomentPlan& plan) {
  return Moment(plan).run();
}

}  // namespace mangrove::sim
