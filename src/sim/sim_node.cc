#include "sim/sim_node.h"

#include <algorithm>
#include <cmath>

#include "agent/qos/cpu_suppress/budget.h"
#include "manager/config/node_strategy.h"
#include "sim/contention.h"
#include "sim/use.h"

namespace mangrove::sim {
namespace {

constexpr double kEnough = 0.98;      // of what a service wants; less is short
constexpr Seconds kOutOfMemory = 10;  // services stand still for so long when the kernel kills

double coresOf(MilliCpu cpu) {
  return static_cast<double>(cpu.v) / 1000;
}

api::ResourceThresholdStrategy thresholdOf(const Policy& policy, const api::Node& node) {
  const auto slo = manager::renderNodeSlo(policy.config, node.meta);
  return slo.spec.resourceUsedThresholdWithBe.value_or(api::ResourceThresholdStrategy{});
}

}  // namespace

void UseWindow::add(double value) {
  values_[next_] = static_cast<float>(value);
  next_ = (next_ + 1) % values_.size();
  count_ = std::min(count_ + 1, values_.size());
}

double UseWindow::sum() const {
  double out = 0;
  for (size_t i = 0; i < count_; i++) out += values_[i];
  return out;
}

SimNode::SimNode(std::shared_ptr<const api::Node> object, const NodeGroup& group,
                 const NodeContext& context)
    : context_(context),
      threshold_(thresholdOf(context.policy, *object)),
      capacity_(coresOf(group.cpu)),
      systemMean_(coresOf(group.systemCpu)),
      system_(systemMean_),
      systemCurve_(group.systemCurve ? &context.trace.curves[*group.systemCurve] : nullptr),
      memory_(group.memory.v),
      systemMemory_(group.systemMemory.v),
      reserved_(agent::reservedCpu(*object)),
      limit_(threshold_, std::max<int64_t>(group.cpu.v / 1000, 1), context.stepping),
      seller_(context.policy, std::move(object)) {}

void SimNode::add(SimPod pod) {
  pod.facts = manager::podFacts(*pod.object);
  pod.window = UseWindow(static_cast<size_t>(std::max<Seconds>(300 / step(), 1)));
  const auto at =
      std::lower_bound(pods_.begin(), pods_.end(), pod.facts.key,
                       [](const SimPod& one, uint64_t key) { return one.facts.key < key; });
  pods_.insert(at, std::move(pod));
}

std::optional<SimPod> SimNode::remove(size_t number) {
  for (auto at = pods_.begin(); at != pods_.end(); ++at) {
    if (at->number != number) continue;
    SimPod out = std::move(*at);
    pods_.erase(at);
    if (context_.policy.predicts) book_.forget(out.object->meta.uid.str());
    return out;
  }
  return std::nullopt;
}

std::vector<SimPod> SimNode::removeAll() {
  reportedUse_ = -1;
  return std::exchange(pods_, {});
}

StepReport SimNode::step(Seconds at) {
  StepReport out;
  want(at);
  const Load wanted = load();
  divide(at, wanted);
  count(wanted, out.sums);
  work(out);
  evict(wanted, out);
  killForMemory(out);
  if (context_.policy.predicts) learn(wall(at));
  sell(at + step(), out);
  report(at + step(), out);
  return out;
}

void SimNode::want(Seconds at) {
  const int64_t cell = at / step();
  if (systemCurve_) system_ = std::min(systemMean_ * systemCurve_->at(at), capacity_);
  for (SimPod& pod : pods_) {
    const auto runs = static_cast<double>(std::clamp<Seconds>(at + step() - pod.starts, 0, step()));
    const double part = runs / static_cast<double>(step());
    if (pod.isTask) {
      pod.wants =
          std::min(coresOf(pod.cpu) * pod.cpuUse * part, pod.left / static_cast<double>(step()));
      pod.bytes = part > 0 ? bytesUsed(pod.memory, pod.memoryUse, 1) : 0;
      continue;
    }
    const double curve = pod.curve->at(at);
    pod.wants =
        part * coresWanted(pod.cpu, curve, pod.noise, noiseAt(context_.seed, pod.chance, cell));
    pod.bytes = part > 0 ? bytesUsed(pod.memory, pod.memoryUse, curve) : 0;
  }
}

SimNode::Load SimNode::load() const {
  Load out;
  for (const SimPod& pod : pods_) {
    (pod.isTask ? out.batch : out.services) += pod.wants;
    out.bytes += pod.bytes;
    if (pod.isTask) out.batchRequest += pod.cpu;
  }
  return out;
}

void SimNode::divide(Seconds at, const Load& load) {
  if (context_.policy.careless) {
    limitMean_ = capacity_;
    return shareByWeight([](const SimPod&) { return true; }, capacity_ - system_);
  }
  limitMean_ = limit_.over(at, step(), agent::suppressBudget(suppressInputs(load)));
  const CpuGrants got = divideCpu({capacity_, system_, load.services, load.batch, limitMean_});
  const auto isService = [](const SimPod& pod) { return !pod.isTask; };
  if (got.services < load.services) shareByWeight(isService, got.services);
  // Tasks want what they asked for, so that a common share is a share by weight.
  const double taskShare = load.batch > 0 ? got.batch / load.batch : 1;
  for (SimPod& pod : pods_) {
    if (pod.isTask)
      pod.got = pod.wants * taskShare;
    else if (got.services >= load.services)
      pod.got = pod.wants;
  }
}

agent::SuppressInputs SimNode::suppressInputs(const Load& load) const {
  agent::SuppressInputs in;
  in.capacity = {static_cast<int64_t>(capacity_ * 1000)};
  in.reserved = reserved_;
  in.servicePodsUsed = std::min(load.services, capacity_ - system_);
  in.podsUsed = in.servicePodsUsed;
  in.nodeUsed = in.podsUsed + system_;
  in.thresholdPercent = threshold_.cpuSuppressThresholdPercent.value_or(Percent{65}).v;
  if (threshold_.cpuSuppressMinPercent) in.minPercent = threshold_.cpuSuppressMinPercent->v;
  return in;
}

// As the kernel shares among those who are alike: by their requests.
template <class Is>
void SimNode::shareByWeight(Is is, double cores) {
  std::vector<CpuClaim> claims;
  for (const SimPod& pod : pods_)
    if (is(pod)) claims.push_back({pod.wants, coresOf(pod.cpu)});
  const std::vector<double> shares = fairShares(cores, claims);
  size_t next = 0;
  for (SimPod& pod : pods_)
    if (is(pod)) pod.got = shares[next++];
}

void SimNode::count(const Load& load, Sums& sums) const {
  const auto seconds = static_cast<double>(step());
  sums.capacity += capacity_ * seconds;
  sums.used += usedCores() * seconds;
  sums.placed += coresOf(load.batchRequest) * seconds;
  sums.sold += coresOf(seller_.batchCpu()) * seconds;
  sums.midSold += coresOf(seller_.midCpu()) * seconds;
  for (const SimPod& pod : pods_) {
    if (pod.isTask) sums.batchUsed += pod.got * seconds;
    if (pod.isTask || pod.wants <= 0) continue;
    sums.serviceTime += seconds;
    if (pod.got < kEnough * pod.wants) sums.cpuShort += seconds;
  }
}

void SimNode::work(StepReport& report) {
  std::vector<size_t> finished;
  for (size_t i = 0; i < pods_.size(); i++) {
    SimPod& pod = pods_[i];
    pod.window.add(pod.got);
    if (!pod.isTask) continue;
    const double done = pod.got * static_cast<double>(step());
    pod.left -= done;
    pod.unsaved += done;
    if (pod.saveEvery > 0) pod.unsaved = std::fmod(pod.unsaved, pod.saveEvery);
    if (pod.left <= 1e-6) finished.push_back(i);
  }
  report.sums.finished += static_cast<int64_t>(finished.size());
  end(std::move(finished), Ended::How::kFinished, report);
}

std::vector<agent::EvictPod> SimNode::evictPods() const {
  std::vector<agent::EvictPod> out;
  for (const SimPod& pod : pods_)
    out.push_back({pod.object.get(), pod.got, Bytes{pod.bytes}, false});
  return out;
}

// BEMemoryEvict, then BECPUEvict: the gates that the reference's chart switches on.
void SimNode::evict(const Load& load, StepReport& report) {
  if (!threshold_.enable.value_or(false)) return;
  std::vector<agent::EvictPod> pods = evictPods();
  const agent::EvictInputs in{threshold_, *seller_.node(), pods, Bytes{usedBytes()}, usedCores()};
  agent::BeHistory history;
  history.count = step();
  double batch = 0;
  for (const SimPod& pod : pods_) batch += pod.isTask ? pod.got : 0;
  const auto milli = [](double cores) { return MilliCpu{static_cast<int64_t>(cores * 1000)}; };
  history.avg = {milli(batch), load.batchRequest, milli(limitMean_)};
  history.last = {milli(batch), load.batchRequest, milli(limit_.cores())};
  std::vector<agent::EvictTask> tasks;
  tasks.push_back(agent::beMemoryTask(in));
  tasks.push_back(agent::beCpuTask(in, history, std::chrono::seconds(1)));
  for (agent::EvictTask& task : tasks) task.pods = pods;
  std::vector<size_t> gone;
  for (const agent::Victim& victim : agent::pickVictims(tasks))
    gone.push_back(static_cast<size_t>(victim.pod - pods.data()));
  report.sums.evicted += static_cast<int64_t>(gone.size());
  end(std::move(gone), Ended::How::kEvicted, report);
}

void SimNode::killForMemory(StepReport& report) {
  const int64_t over = usedBytes() - memory_;
  if (over <= 0) return;
  std::vector<size_t> tasks;
  std::vector<int64_t> uses;
  for (size_t i = 0; i < pods_.size(); i++) {
    if (!pods_[i].isTask && pods_[i].wants > 0) report.sums.memoryShort += kOutOfMemory;
    if (!pods_[i].isTask) continue;
    tasks.push_back(i);
    uses.push_back(pods_[i].bytes);
  }
  std::vector<size_t> gone;
  for (size_t one : killedFor(over, uses)) gone.push_back(tasks[one]);
  report.sums.killed += static_cast<int64_t>(gone.size());
  end(std::move(gone), Ended::How::kKilled, report);
}

void SimNode::end(std::vector<size_t> indices, Ended::How how, StepReport& report) {
  std::sort(indices.begin(), indices.end(), std::greater<>());
  for (size_t i : indices) {
    if (how != Ended::How::kFinished) report.sums.lost += pods_[i].unsaved;
    report.ended.push_back({how, std::move(pods_[i])});
    pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

double SimNode::usedCores() const {
  double out = system_;
  for (const SimPod& pod : pods_) out += pod.got;
  return out;
}

int64_t SimNode::usedBytes() const {
  int64_t out = systemMemory_;
  for (const SimPod& pod : pods_) out += pod.bytes;
  return out;
}

}  // namespace mangrove::sim
