#include "agent/interference/suspects.h"

#include <algorithm>

namespace mangrove::agent::interference {
namespace {

constexpr double kByCorrelation = 0.5, kByShare = 0.3, kByAge = 0.2;
constexpr Duration kRecent = std::chrono::minutes(15);
constexpr double kSevere = 2;

double weightOf(api::Qos qos, api::PriorityBand band) {
  if (band == api::PriorityBand::kMid) return 1;
  switch (qos) {
    case api::Qos::kLse:
      return 4;
    case api::Qos::kLsr:
      return 3;
    default:
      return 2;
  }
}

double confidenceOf(Evidence evidence) {
  switch (evidence) {
    case Evidence::kCounters:
    case Evidence::kRegression:
      return 1.0;
    case Evidence::kPressure:
      return 0.7;
    case Evidence::kLatency:
      return 0.5;
  }
  return 0.5;
}

double nearnessFactor(Nearness nearness) {
  switch (nearness) {
    case Nearness::kSibling:
      return 1.5;
    case Nearness::kSameCache:
      return 1.2;
    case Nearness::kSameNuma:
      return 1.1;
    case Nearness::kFar:
      return 1;
  }
  return 1;
}

bool comesBefore(const Ranked& a, const Ranked& b) {
  if (a.suspect.rank != b.suspect.rank) return a.suspect.rank < b.suspect.rank;
  if (a.score != b.score) return a.score > b.score;
  if (a.suspect.priority != b.suspect.priority) return a.suspect.priority < b.suspect.priority;
  if (a.suspect.running != b.suspect.running) return a.suspect.running < b.suspect.running;
  return a.suspect.uid < b.suspect.uid;
}

}  // namespace

std::string_view evidenceName(Evidence evidence) {
  constexpr std::string_view kNames[] = {"hardware", "regression", "software", "latency"};
  return kNames[static_cast<size_t>(evidence)];
}

double severityOf(api::Qos qos, api::PriorityBand band, double observed, double fence,
                  Evidence evidence) {
  if (fence <= 0) return 0;
  return weightOf(qos, band) * (observed / fence - 1) * confidenceOf(evidence);
}

bool isSevere(double observed, double fence) {
  return fence > 0 && observed > kSevere * fence;
}

double scoreOf(const Suspect& suspect) {
  const double recent = std::max(0.0, 1 - static_cast<double>(suspect.running.count()) /
                                              static_cast<double>(Duration(kRecent).count()));
  const double score = kByCorrelation * std::max(0.0, suspect.correlation) +
                       kByShare * suspect.share + kByAge * recent;
  return std::min(1.0, score * nearnessFactor(suspect.nearness));
}

std::vector<Ranked> rankSuspects(std::span<const Suspect> suspects, bool emergency) {
  std::vector<Ranked> out;
  for (const Suspect& one : suspects)
    if (const double score = scoreOf(one); score >= kLeastScore || emergency)
      out.push_back({one, score});
  std::sort(out.begin(), out.end(), comesBefore);
  return out;
}

}  // namespace mangrove::agent::interference
