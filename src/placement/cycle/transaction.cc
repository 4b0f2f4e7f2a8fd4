#include "placement/cycle/transaction.h"

#include <algorithm>

#include "placement/cycle/plugin_times.h"

namespace mangrove::placement {

namespace {

// Plugins find what they reserved by the pod, whatever became of its plan.
PodPlan planOf(const PodPtr& pod) {
  PodPlan plan;
  plan.cls = pod->cls;
  return plan;
}

void unreserve(Profile& profile, const Decision& decision, size_t reserved) {
  for (size_t i = reserved; i-- > 0;) profile.reserve()[i]->transactional()->unreserve(decision);
}

}  // namespace

void unreserveAll(Profile& profile, Cluster& cluster, const Decision& decision) {
  unreserve(profile, decision, profile.reserve().size());
  cluster.forget(decision.pod);
}

Transaction::~Transaction() {
  rollback();
  cluster_.table.releaseLog();
}

std::optional<Transaction::Refusal> Transaction::place(Profile& profile, const PodPtr& pod, Row row,
                                                       PluginTimes* times) {
  const Step step{Step::Kind::kPlaced,  pod,      row,
                  cluster_.table.now(), &profile, cluster_.nominatedNode(pod->pod->meta.uid)};
  const Decision decision{profile.compiled(pod->cls).plan(), pod, row};
  for (Transforming* plugin : profile.layout().transforming)
    if (auto entered = plugin->enter(decision); !entered) {
      cluster_.reservations.left(pod);
      cluster_.table.rewind(step.log);
      return Refusal{"Reservation", entered.error().sentence()};
    }
  cluster_.assume(pod, row);
  for (size_t i = 0; i < profile.reserve().size(); i++) {
    Plugin& plugin = *profile.reserve()[i];
    Result<> reserved;
    timed(times, plugin, Point::kReserve, [&] {
      reserved = plugin.transactional()->reserve(decision);
      return reserved.has_value();
    });
    if (reserved) continue;
    unreserve(profile, decision, i);
    cluster_.forget(pod);
    if (!step.nominated.empty()) cluster_.nominate(pod, step.nominated);
    cluster_.table.rewind(step.log);
    return Refusal{std::string(plugin.name()), reserved.error().sentence()};
  }
  steps_.push_back(step);
  return std::nullopt;
}

void Transaction::takeAway(const PodPtr& pod) {
  steps_.push_back({Step::Kind::kTakenAway, pod, pod->row, cluster_.table.now(), nullptr, {}});
  cluster_.takeAway(pod);
}

void Transaction::putBack(const PodPtr& pod) {
  const auto taken = std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& step) {
    return step.pod == pod && step.kind == Step::Kind::kTakenAway;
  });
  if (taken == steps_.rend() || pod->row != kNoRow) return;
  const Row row = taken->row;
  steps_.push_back({Step::Kind::kPutBack, pod, row, cluster_.table.now(), nullptr, {}});
  cluster_.putBack(pod, row);
}

void Transaction::undo(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kPlaced: {
      const PodPlan plan = planOf(step.pod);
      unreserveAll(*step.profile, cluster_, {plan, step.pod, step.row});
      if (!step.nominated.empty()) cluster_.nominate(step.pod, step.nominated);
      break;
    }
    case Step::Kind::kTakenAway:
      cluster_.putBack(step.pod, step.row);
      break;
    case Step::Kind::kPutBack:
      cluster_.takeAway(step.pod);
      break;
  }
}

void Transaction::rollbackTo(size_t mark) {
  if (steps_.size() <= mark) return;
  const uint64_t log = steps_[mark].log;
  while (steps_.size() > mark) {
    undo(steps_.back());
    steps_.pop_back();
  }
  cluster_.table.rewind(log);
}

void Transaction::commit() {
  for (const Step& step : steps_)
    if (step.kind == Step::Kind::kTakenAway && step.pod->row == kNoRow)
      cluster_.putBack(step.pod, step.row);
  steps_.clear();
}

}  // namespace mangrove::placement
