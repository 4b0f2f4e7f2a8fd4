#include "agent/qos/interference/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/qos/extension.h"
#include "agent/qos/kernel_floor.h"
#include "agent/qos/strategies.h"
#include "api/wire/decode.h"
#include "kernel/resource_names.h"
#include "stakes/stake.h"
#include "victims/order.h"

namespace mangrove::agent {
namespace {

using interference::Orders;
using interference::Switches;
namespace name = kernel::resource_name;

constexpr std::string_view kFeature = "Interference";
constexpr std::string_view kFiles[] = {name::kCpuQuota,      name::kCpuIdle,  name::kMemoryHigh,
                                       name::kCpuset,        name::kIoWeight, name::kIoBfqWeight,
                                       name::kBlkioBfqWeight};
constexpr int64_t kLastOfDisks = 1;  // weight
constexpr size_t kLeastCpus = 2;     // that offline work keeps
constexpr int64_t kPeriod = 100'000;
constexpr int64_t kSmallestCap = 1000;

int64_t quotaOf(double cores) {
  return std::max(kSmallestCap, static_cast<int64_t>(cores * kPeriod));
}

bool isOn(const std::map<std::string, bool>& said, const char* word) {
  const auto found = said.find(word);
  return found == said.end() || found->second;
}

const PodLook* podOf(const Look& look, const std::string& uid) {
  const auto found = std::find_if(look.pods.begin(), look.pods.end(), [&](const PodLook& pod) {
    return pod.pod && pod.pod->meta.uid.str() == uid;
  });
  return found == look.pods.end() ? nullptr : &*found;
}

void setMarks(const std::map<std::string, api::InterferenceMarks>& said, const char* word,
              interference::Marks& out) {
  if (const auto found = said.find(word); found != said.end())
    out = {found->second.warn, found->second.act};
}

// What its leaving throws away, as every eviction says.
std::string lossOf(const Situation& now, const PodLook& pod, const EvictedLately& lately) {
  stakes::Known known;
  known.evictedToday = lately.tally().today(stakes::jobOf(*pod.pod), now.look.wall);
  victims::Candidate one = stakes::candidateOf(*pod.pod, known);
  one.frees = {pod.usage.cpu.value_or(0) * 1000};
  const victims::Choice choice = victims::chooseVictims(
      std::span(&one, 1), {.need = {}, .evenIfShort = true, .now = now.look.wall});
  return choice.leavers.empty() ? "" : victims::sentence(choice.leavers.front());
}

}  // namespace

Switches switchesOf(const FeatureGates& gates, const api::InterferencePolicySpec& policy) {
  Switches out;
  out.gaussian = gates.on("InterferenceGaussian") && isOn(policy.detectors, "gaussian");
  out.cpi2 = gates.on("InterferenceCPI2") && isOn(policy.detectors, "cpi2");
  out.pressure = gates.on("InterferencePSI") && isOn(policy.detectors, "pressure");
  out.ladder = gates.on("MitigationLadder") && !policy.dryRun;
  out.causal = gates.on("CausalCheck") && !policy.dryRun;
  setMarks(policy.thresholds, "cpu", out.marks.cpu);
  setMarks(policy.thresholds, "memorySome", out.marks.memorySome);
  setMarks(policy.thresholds, "memoryFull", out.marks.memoryFull);
  setMarks(policy.thresholds, "io", out.marks.io);
  setMarks(policy.thresholds, "latency", out.marks.latency);
  setMarks(policy.thresholds, "network", out.marks.network);
  for (const auto& [rung, on] : policy.ladder)
    if (const auto known = interference::rungNamed(rung); known && !on) out.off.insert(*known);
  if (policy.pairs >= static_cast<int32_t>(interference::kLeastPairs))
    out.rules.pairs = static_cast<size_t>(policy.pairs);
  return out;
}

StrategyInfo Interference::info() const {
  return {.name = owner::kInterference, .gate = {}, .files = kFiles};
}

// Decoded once for each content; what cannot be read leaves the last one in force.
api::InterferencePolicySpec Interference::policyOf(const Situation& now) {
  const std::string text = extensionText(now.look, api::kInterferenceExtension);
  if (text == policyText_) return policy_;
  policyText_ = text;
  policyTrouble_.clear();
  if (text.empty()) return policy_ = {};
  auto policy = api::decodeText<api::InterferencePolicySpec>(text);
  if (policy)
    policy_ = std::move(*policy);
  else
    policyTrouble_ = policy.error().text();
  return policy_;
}

// v1 refuses a group's limit below one of its children's, so these come down with it.
void Interference::capPods(const Situation& now, const Orders& orders, Wishes& out) {
  std::map<std::string, int64_t> wanted;
  for (const Orders::Cap& cap : orders.caps) {
    const PodLook* pod = podOf(now.look, cap.uid);
    if (pod == nullptr || !isOffline(*pod)) continue;
    const int64_t quota = quotaOf(cap.cores);
    const std::string cgroup(pod->cgroup);
    const auto known = wanted.find(cgroup);
    wanted[cgroup] = known == wanted.end() ? quota : std::min(known->second, quota);
    out.values.push_back({cgroup, name::kCpuQuota, Part::cap(quota), cap.why});
    if (now.look.machine->trees().isV2()) continue;
    for (const ContainerLook& container : pod->containers) {
      const auto has = now.present.present(container.cgroup, name::kCpuQuota);
      if (has && has->number != kUnlimited)
        out.values.push_back(
            {std::string(container.cgroup), name::kCpuQuota, Part::cap(quota), cap.why});
    }
  }
  senses_.wanted(std::move(wanted));
}

// From what each pod used when it was first held: a share of what is left each time would never end.
void Interference::holdMemory(const Situation& now, const Orders& orders, Wishes& out) {
  if (orders.memoryShare >= 1) return memoryFrom_.clear();
  for (const PodLook& pod : now.look.pods) {
    if (!mayBeHeld(pod) || !pod.usage.memoryWithCache) continue;
    const auto from =
        memoryFrom_.try_emplace(pod.pod->meta.uid.str(), pod.usage.memoryWithCache->v).first;
    const auto most = static_cast<int64_t>(orders.memoryShare * static_cast<double>(from->second));
    out.values.push_back(
        {std::string(pod.cgroup), name::kMemoryHigh, Part::cap(most), orders.memoryWhy});
  }
}

namespace {

// The file that weighs this pod's disk requests; "": this machine has none.
std::string_view weightFile(const Situation& now, std::string_view cgroup) {
  if (!now.look.machine->trees().isV2())
    return now.present.present(cgroup, name::kBlkioBfqWeight) ? name::kBlkioBfqWeight : "";
  const std::string_view file = weightFileV2(now, cgroup);
  return now.present.present(cgroup, file) ? file : "";
}

void holdDisks(const Situation& now, const std::string& why, Wishes& out) {
  for (const PodLook& pod : now.look.pods) {
    if (why.empty() || !mayBeHeld(pod)) continue;
    const std::string cgroup(pod.cgroup);
    const std::string_view file = weightFile(now, cgroup);
    if (file == name::kBlkioBfqWeight)
      out.base(cgroup, file, FileValue::of(kLastOfDisks), why);
    else if (!file.empty())
      out.entry(cgroup, file, "default", FileValue::ofText(std::to_string(kLastOfDisks)), why);
  }
}

CpuSet besideOf(const Situation& now, const std::set<std::string>& services) {
  CpuSet out;
  for (const PodLook& pod : now.look.pods)
    if (pod.pod && services.count(pod.pod->meta.uid.str()) != 0) out = out | coresOf(now, pod);
  return out;
}

// Whether any offline pod has the file.
bool anyHas(const Situation& now, std::string_view file) {
  return std::any_of(now.look.pods.begin(), now.look.pods.end(), [&](const PodLook& pod) {
    return mayBeHeld(pod) && now.present.present(pod.cgroup, file);
  });
}

}  // namespace

// Whoever would be left with fewer than two CPUs stays where it is.
void Interference::holdSiblings(const Situation& now, const Orders& orders, Wishes& out) {
  if (orders.siblings.empty()) return cpusFrom_.clear();
  const CpuSet away = besideOf(now, orders.beside);
  const auto hold = [&](std::string_view cgroup) {
    const auto present = now.present.present(cgroup, name::kCpuset);
    if (!present || present->cpus.empty()) return;
    const CpuSet& from = cpusFrom_.try_emplace(std::string(cgroup), present->cpus).first->second;
    const CpuSet left = from - away;
    if (left.size() >= kLeastCpus)
      out.values.push_back({std::string(cgroup), name::kCpuset, Part::mask(left), orders.siblings});
  };
  for (const PodLook& pod : now.look.pods) {
    if (!mayBeHeld(pod)) continue;
    hold(pod.cgroup);
    for (const ContainerLook& container : pod.containers) hold(container.cgroup);
  }
}

// What cannot be done here is not offered to the ladder. Looked at every ten seconds.
interference::Means Interference::meansOf(const Situation& now) {
  using interference::Rung;
  interference::Means out;
  const HoldMeans& means = board_->means;
  if (HoldMeans::isFresh(means.cacheAt, now.look.at)) {
    out.ways = means.ways;
    out.offlineWays = means.offlineWays;
    out.bandwidth = means.bandwidth;
  }
  if (meansAt_ == MonoTime::min() || now.look.at - meansAt_ >= Senses::kEvery) {
    meansAt_ = now.look.at;
    absent_.clear();
    const bool weighs = std::any_of(
        now.look.pods.begin(), now.look.pods.end(),
        [&](const PodLook& pod) { return mayBeHeld(pod) && !weightFile(now, pod.cgroup).empty(); });
    if (!weighs) absent_[Rung::kIoWeight] = "this kernel weighs no disk requests";
    if (!anyHas(now, name::kMemoryHigh)) absent_[Rung::kMemoryHigh] = "memory has no soft limit";
    if (!now.look.machine->can().has(kernel::Feature::kCpuIdle))
      absent_[Rung::kIdleClass] = "this kernel has no idle class";
  }
  out.absent = absent_;
  if (!HoldMeans::isFresh(means.networkAt, now.look.at))
    out.absent[Rung::kNetClass] = "no network classes here (gate TCNetworkQoS)";
  return out;
}

// For those who own the other knobs, who ask services for their latency, and who write objects.
void Interference::tell(const Situation& now, const interference::Scene& scene,
                        const Orders& orders) {
  OfflineHold& hold = board_->hold;
  hold = {};
  if (orders.ways) hold.ways = static_cast<int>(*orders.ways);
  hold.waysWhy = orders.waysWhy;
  hold.bandwidth = orders.bandwidth;
  hold.bandwidthWhy = orders.bandwidthWhy;
  hold.networkWhy = orders.netClass;
  board_->looks = true;
  board_->watched.clear();
  board_->containers.clear();
  std::set<std::string> present;
  for (const interference::Service& one : scene.services) {
    const std::string name = one.ns + "/" + one.name;
    present.insert(name);
    if (episodes_.watches(one.uid)) board_->watched.insert(one.uid);
    if (one.counted) board_->cpi[name] = {one.counted->cpi, one.counted->fence};
  }
  std::erase_if(board_->cpi, [&](const auto& one) { return present.count(one.first) == 0; });
  for (const PodLook& pod : now.look.pods)
    if (pod.pod && board_->watched.count(pod.pod->meta.uid.str()) != 0)
      for (const ContainerLook& container : pod.containers)
        board_->containers.insert(std::string(container.id));
  board_->workloads = senses_.workloads();
  board_->ended = episodes_.ended();
  for (auto& report : episodes_.takeReports(now.node ? now.node->meta.name.view() : "")) {
    for (const api::InterferenceSuspect& one : report.status.suspects)
      if (one.verified == "guilty" && !report.status.outcome.empty())
        board_->proved.push_back({report.spec.application, one.application, report.status.end});
    board_->reports.push_back(std::move(report));
  }
}

void Interference::rest() {
  episodes_ = interference::Episodes();
  memoryFrom_.clear();
  cpusFrom_.clear();
  senses_.wanted({});
  board_->hold = {};
  board_->looks = false;
  board_->watched.clear();
  board_->containers.clear();
  board_->cpi.clear();
}

void Interference::evict(const Situation& now, const Orders& orders, Wishes& out) {
  for (const Orders::Leave& leave : orders.leave) {
    const PodLook* pod = podOf(now.look, leave.uid);
    if (pod == nullptr || !isOffline(*pod)) continue;
    if (lately_->has(leave.uid) || lately_->wasRefused(leave.uid)) continue;
    const std::string loss = lossOf(now, *pod, *lately_);
    out.evictions.push_back({pod->pod, kFeature, loss.empty() ? leave.why : leave.why + "; " + loss,
                             static_cast<int64_t>(pod->usage.cpu.value_or(0) * 1000)});
    out.trouble = true;
  }
}

Wishes Interference::decide(const Situation& now) {
  Wishes out;
  const api::InterferencePolicySpec policy = policyOf(now);
  const Switches switches = switchesOf(now.gates, policy);
  if (!switches.detects()) {
    rest();
    out.note = "no detector is on";
    return out;
  }
  const auto seed = static_cast<uint64_t>(now.look.wall.time_since_epoch().count());
  if (episodes_.size() == 0) episodes_.reseed(seed);
  lately_->forget(now.look.at);
  interference::Scene scene = senses_.look(now, episodes_, *board_);
  scene.means = meansOf(now);
  const Orders orders = episodes_.step(scene, switches);
  capPods(now, orders, out);
  holdMemory(now, orders, out);
  holdSiblings(now, orders, out);
  holdDisks(now, orders.ioWeight, out);
  if (!orders.idleClass.empty())
    for (const PodLook& pod : now.look.pods)
      if (mayBeHeld(pod))
        out.base(std::string(pod.cgroup), name::kCpuIdle, FileValue::of(1), orders.idleClass);
  evict(now, orders, out);
  tell(now, scene, orders);
  keepBook(now.look.wall);
  out.note = policyTrouble_.empty() ? episodes_.text() : policyTrouble_;
  return out;
}

void Interference::sent(const Ousting& one, MonoTime at) {
  lately_->add(one.pod->meta.uid.str(), at);
}

// Written as a text now and then: as an object it would be written out at every tick.
void Interference::keepBook(WallTime now) {
  if (bookAt_ != WallTime{} && now < bookAt_ + kKeepBook) return;
  bookAt_ = now;
  if (senses_.book().workloads() > 0) bookText_ = json::write(senses_.book().state());
  board_->ownBook = bookText_;
}

json::Value Interference::state() const {
  const json::Value episodes = episodes_.state();
  if (episodes.is_null() && bookText_.empty()) return nullptr;
  return json::Object{{"episodes", episodes}, {"fences", bookText_}};
}

void Interference::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  if (top == nullptr) return;
  if (const json::Value* episodes = top->if_contains("episodes")) episodes_.restore(*episodes);
  const json::Value* fences = top->if_contains("fences");
  if (fences == nullptr || !fences->is_string() || fences->get_string().empty()) return;
  bookText_ = std::string(std::string_view(fences->get_string()));
  const auto parsed = json::parse(bookText_);
  if (!parsed) return;
  if (auto book = api::FenceBook::restore(*parsed)) senses_.book() = std::move(*book);
}

std::unique_ptr<Strategy> strategies::interference(const StrategyOptions& options) {
  auto board = options.interference ? options.interference : std::make_shared<InterferenceBoard>();
  auto lately = options.lately ? options.lately : std::make_shared<EvictedLately>();
  return std::make_unique<Interference>(std::move(board), std::move(lately));
}

}  // namespace mangrove::agent
