#include "placement/plugins/interference/proven_interference.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/text/time_text.h"
#include "placement/framework/scale.h"

namespace mangrove::placement {
namespace {

constexpr double kPointsPerWeight = 10;
constexpr size_t kEpisodes = 3;
constexpr size_t kNodes = 2;
constexpr auto kWeek = std::chrono::hours(24 * 7);
constexpr auto kWeighAgain = std::chrono::hours(1);

double ageInWeeks(WallTime at, WallTime now) {
  return std::max(0.0, std::chrono::duration<double>(now - at).count() /
                           std::chrono::duration<double>(kWeek).count());
}

std::string workloadOf(const PodClass& cls) {
  const api::OwnerReference* owner = nullptr;
  for (const api::OwnerReference& one : *cls.owners)
    if (one.controller) owner = &one;
  return api::workloadClassOf(cls.ns.view(), cls.labels, owner, "");
}

// What all parts of a profile share.
struct Hints {
  PairWeights weights;
  uint64_t generation = 1;

  // How much this workload and that one are worth keeping apart.
  double between(const std::string& a, const std::string& b) const {
    double sum = 0;
    if (const auto found = weights.find({a, b}); found != weights.end()) sum += found->second;
    if (a == b) return sum;
    if (const auto found = weights.find({b, a}); found != weights.end()) sum += found->second;
    return sum;
  }
  bool concerns(const std::string& workload) const {
    return std::any_of(weights.begin(), weights.end(), [&](const auto& one) {
      return one.first.first == workload || one.first.second == workload;
    });
  }
};

// The penalty of every row for one class of pods, kept by delta.
class PairPart final : public ClusterPart {
 public:
  PairPart(const Cluster& cluster, const Hints& hints, std::string workload)
      : cluster_(cluster), hints_(hints), workload_(std::move(workload)) {}

  Ready prepare() override {
    if (generation_ != hints_.generation) count();
    return {.filters = false, .scores = meetings_ > 0};
  }
  bool addScores(Totals totals, int32_t weight) override {
    if (meetings_ == 0) return false;
    for (Row row = 0; row < totals.size(); ++row)
      if (totals[row] != kNotFeasible)
        totals[row] += weight * pairScore(row < penalty_.size() ? penalty_[row] : 0);
    return true;
  }
  void podAdded(const PodInfo& pod, Row row, bool) override { meet(pod, row, 1); }
  void podRemoved(const PodInfo& pod, Row row, bool) override { meet(pod, row, -1); }

 private:
  double weightOf(const PodClass& cls) {
    const auto known = known_.find(cls.id);
    if (known != known_.end()) return known->second;
    return known_[cls.id] = hints_.between(workload_, workloadOf(cls));
  }
  void meet(const PodInfo& pod, Row row, int sign) {
    if (generation_ != hints_.generation || row == kNoRow || pod.isStandIn) return;
    const double weight = weightOf(*pod.cls);
    if (weight <= 0) return;
    if (row >= penalty_.size()) penalty_.resize(row + 1);
    penalty_[row] += sign * weight;
    meetings_ += sign;
  }
  void count() {
    generation_ = hints_.generation;
    known_.clear();
    penalty_.clear();
    meetings_ = 0;
    cluster_.eachPod([this](const PodPtr& pod) { meet(*pod, pod->row, 1); });
  }

  const Cluster& cluster_;
  const Hints& hints_;
  std::string workload_;
  uint64_t generation_ = 0;
  std::unordered_map<uint32_t, double> known_;  // by class
  std::vector<double> penalty_;                 // by row
  int64_t meetings_ = 0;
};

class ProvenInterference final : public Plugin, public ClusterWide, public ClusterListener {
 public:
  explicit ProvenInterference(const PluginHandle& handle)
      : cluster_(handle.cluster), clock_(handle.clock) {}
  std::string_view name() const override { return "ProvenInterference"; }
  ClusterWide* clusterWide() override { return this; }
  ClusterListener* listener() override { return this; }

  std::unique_ptr<ClusterPart> attach(const PodPlan& plan) override {
    if (hints_.weights.empty()) return nullptr;
    std::string workload = workloadOf(*plan.cls);
    if (!hints_.concerns(workload)) return nullptr;
    return std::make_unique<PairPart>(cluster_, hints_, std::move(workload));
  }
  void nodeChanged(Row row) override {
    const api::Node& node = cluster_.table.node(row);
    const auto said = node.meta.annotations.get(api::kProvenPairs);
    const std::string text(said.value_or(""));
    const std::string name = node.meta.name.str();
    std::string& known = texts_[row];
    if (known == text) return;
    known = text;
    names_[row] = name;
    evidence_[name] = api::parseProvenPairs(text);
    weighAgain(clock_.wall());
  }
  void nodeGone(Row row) override {
    texts_.erase(row);
    const auto name = names_.find(row);
    if (name == names_.end()) return;
    const bool had = evidence_.erase(name->second) > 0;
    names_.erase(name);
    if (had) weighAgain(clock_.wall());
  }
  void tick(WallTime now) override {
    if (!evidence_.empty() && now >= weighedAt_ + kWeighAgain) weighAgain(now);
  }
  // GET /apis/v1/plugins/ProvenInterference/pairs
  std::optional<json::Value> serve(std::string_view path) override {
    if (path != "pairs") return std::nullopt;
    json::Array out;
    for (const auto& [pair, weight] : hints_.weights)
      out.push_back(json::Object{{"victim", pair.first},
                                 {"by", pair.second},
                                 {"weight", weight},
                                 {"points", kMaxScore - pairScore(weight)}});
    return out;
  }

 private:
  void weighAgain(WallTime now) {
    weighedAt_ = now;
    PairWeights fresh = weigh(evidence_, now);
    if (fresh == hints_.weights) return;
    hints_.weights = std::move(fresh);
    ++hints_.generation;
  }

  Cluster& cluster_;
  Clock& clock_;
  PairEvidence evidence_;
  std::unordered_map<Row, std::string> texts_, names_;
  Hints hints_;
  WallTime weighedAt_{};
};

}  // namespace

PairWeights weigh(const PairEvidence& evidence, WallTime now) {
  struct Sum {
    double weight = 0;
    size_t recent = 0;
    std::set<std::string> nodes;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const auto& [node, pairs] : evidence)
    for (const api::ProvenPair& one : pairs) {
      const double weeks = ageInWeeks(one.at, now);
      Sum& sum = sums[{one.victim, one.antagonist}];
      sum.weight += std::exp2(-weeks);
      if (weeks > 1) continue;
      ++sum.recent;
      sum.nodes.insert(node);
    }
  PairWeights out;
  for (const auto& [pair, sum] : sums)
    if (sum.recent >= kEpisodes && sum.nodes.size() >= kNodes) out[pair] = sum.weight;
  return out;
}

int32_t pairScore(double weight) {
  const double points = std::clamp(weight * kPointsPerWeight, 0.0, static_cast<double>(kMaxScore));
  return static_cast<int32_t>(kMaxScore) - static_cast<int32_t>(std::lround(points));
}

Result<std::unique_ptr<Plugin>> makeProvenInterference(const json::Value&, PluginHandle handle) {
  return std::make_unique<ProvenInterference>(handle);
}

}  // namespace mangrove::placement
