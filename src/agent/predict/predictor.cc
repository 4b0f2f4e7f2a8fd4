#include "agent/predict/predictor.h"

#include <algorithm>

#include "agent/almanac/almanac.h"
#include "base/number/elapsed.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

// p90 of one column over the training interval.
std::optional<double> p90(const Shelf& shelf, Shelf::Id id, uint32_t column, MonoTime from,
                          MonoTime to) {
  return stats::percentile(shelf.window(id, column, from, to).values, 0.9);
}

}  // namespace

api::ResourceList resourcesOf(const Amounts& amounts) {
  api::ResourceList list;
  list.set(api::resourceNames().cpu, Quantity::of(amounts.cpu));
  list.set(api::resourceNames().memory, Quantity::of(amounts.memory));
  return list;
}

Predictor::Predictor(PredictorOptions options)
    : options_(std::move(options)), models_(options_.models), dir_(options_.checkpointDir) {
  loaded_ = dir_.load(models_);
  for (const std::string& trouble : loaded_.troubles) log.warn("prediction: {}", trouble);
  for (const auto& [key, model] : models_.all())
    lastTrained_ = std::max(lastTrained_, model.updated);
}

void Predictor::tick(const Look& look) {
  const Duration interval = options_.models.trainingInterval;
  if (nextTraining_ == MonoTime::min()) {
    // After a restart the minute that was learnt already is not learnt again.
    const Duration since = elapsed(lastTrained_, look.wall);
    const bool recent = since >= Duration::zero() && since < interval;
    nextTraining_ = look.at + (recent ? interval - since : interval);
    nextCheckpoint_ = look.at + options_.checkpointInterval;
    return;
  }
  if (look.at >= nextTraining_) {
    nextTraining_ = look.at + interval;
    train(look);
  }
  if (look.at < nextCheckpoint_) return;
  nextCheckpoint_ = look.at + options_.checkpointInterval;
  save();
}

void Predictor::save() {
  auto saved = dir_.save(models_);
  if (saved && !options_.exportDir.empty()) saved = dir_.exportTo(options_.exportDir, models_);
  ++(saved ? stats_.checkpoints : stats_.checkpointFailures);
  if (!saved) log.warn("models not saved: {}", saved.error().text());
}

void Predictor::train(const Look& look) {
  if (std::exchange(skipRound_, false)) {
    ++stats_.skipped;
    return;
  }
  Lessons lessons;
  podLessons(look, lessons);
  groupLessons(look, lessons);
  for (const auto& [key, lesson] : lessons) models_.learn(key, lesson, look.wall);
  ++stats_.rounds;
  stats_.lessons += lessons.size();
  lastTrained_ = look.wall;
  if (auto ok = dir_.note(lessons, look.wall); !ok) log.warn("prediction: {}", ok.error().text());
  models_.expire(look.wall);
}

void Predictor::podLessons(const Look& look, Lessons& out) const {
  const MonoTime from = look.at - options_.models.trainingInterval;
  const Shelf& shelf = look.history->pods();
  for (const PodLook& pod : look.pods) {
    if (!pod.pod) continue;
    const auto id = shelf.find(pod.uid);
    if (!id) continue;
    const auto cores = p90(shelf, *id, pod_column::kCpu, from, look.at);
    const auto bytes = p90(shelf, *id, pod_column::kMemory, from, look.at);
    if (cores && bytes) out.push_back({pod.pod->meta.uid.str(), {*cores, *bytes}});
  }
}

void Predictor::groupLessons(const Look& look, Lessons& out) const {
  const MonoTime from = look.at - options_.models.trainingInterval;
  const Shelf& node = look.history->node();
  const Shelf::Id track = look.history->nodeTrack();
  const auto cores = p90(node, track, node_column::kCpu, from, look.at);
  const auto bytes = p90(node, track, node_column::kMemory, from, look.at);
  if (cores && bytes) out.push_back({std::string(model_key::kNode), {*cores, *bytes}});
  const Shelf& groups = look.history->groups();
  for (const std::string& subject : groups.subjects()) {
    const Shelf::Id id = *groups.find(subject);
    const auto cpu = p90(groups, id, group_column::kCpu, from, look.at);
    const auto memory = p90(groups, id, group_column::kMemory, from, look.at);
    if (cpu && memory) out.push_back({subject, {*cpu, *memory}});
  }
}

Reclaim Predictor::reclaim(const Look& look, const api::Node* node) const {
  if (node == nullptr) {
    Reclaim out;
    out.reclaimable = out.peak = fail(Code::kUnavailable, "the Node object was not seen yet");
    return out;
  }
  std::vector<ReclaimPod> pods;
  std::vector<PodPtr> keep;
  look.book->each([&](const PodPtr& pod) {
    std::string subject = cgroupUid(*pod);
    std::replace(subject.begin(), subject.end(), '_', '-');
    if (!look.history->pods().find(subject)) return;  // no metric, no opinion
    const Duration age = elapsed(pod->meta.creationTimestamp, look.wall);
    pods.push_back({pod.get(), age, models_.trustedPeak(pod->meta.uid.str(), look.wall)});
    keep.push_back(pod);
  });
  const auto group = [&](std::string_view key, const std::string& subject) {
    return withSeason(models_.trustedPeak(key, look.wall),
                      season_ ? season_(subject, look.wall) : std::nullopt);
  };
  const auto band = [&](api::PriorityBand one) {
    return group(model_key::ofBand(api::bandName(one)), bandSubject(one));
  };
  return prodReclaimable({.allocatable = rawAllocatable(*node),
                          .marginPercent = options_.marginPercent,
                          .coldStart = options_.models.coldStart,
                          .pods = pods,
                          .system = group(model_key::kSystem, "system"),
                          .prod = band(api::PriorityBand::kProd),
                          .none = band(api::PriorityBand::kNone)});
}

}  // namespace mangrove::agent
