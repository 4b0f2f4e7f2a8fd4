#include "agent/report/reporter.h"

#include <algorithm>
#include <cmath>

#include "api/annotations/report_validity.h"
#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

NodeSize sizeOf(const Look& look) {
  return {MilliCpu{static_cast<int64_t>(look.machine->cpus().cpus.size()) * 1000},
          look.node.memoryTotal};
}

}  // namespace

bool loadJumped(double reported, double now, double floor) {
  return std::abs(now - reported) > std::max(0.1 * reported, floor);
}

bool Reporter::Load::jumped(MonoTime at, double value, double floor) {
  now.add(at, value);
  if (!reported) reported = now.value();
  return loadJumped(*reported, *now.value(), floor);
}

Reporter::Reporter(ReporterSetup setup) : setup_(std::move(setup)), rng_(setup_.seed) {}

Reporter::~Reporter() {
  life_.end();
}

void Reporter::follow(std::shared_ptr<const api::NodeMetric> metric) {
  // An object that was awaited gets its first report at once.
  const bool awaited = !metric_ && metric && stats_.absent > 0 && !lastSentAt_;
  if (awaited) nextRound_ = std::min(nextRound_, setup_.clock.mono());
  metric_ = std::move(metric);
  ReportPolicy policy = metric_ ? policyOf(metric_->spec) : ReportPolicy{};
  policy.percentiles = setup_.percentiles;
  // A shorter interval takes effect now, not after the long one has passed.
  if (policy.interval < policy_.interval && nextRound_ != MonoTime::min())
    nextRound_ = std::min(nextRound_, setup_.clock.mono() + policy.interval);
  policy_ = policy;
}

// What the server has: our own last word, unless the object shows a later one.
const api::NodeMetricStatus& Reporter::known() const {
  static const api::NodeMetricStatus kNothing;
  const bool ours = lastSent_ && (!metric_ || lastSent_->updateTime >= metric_->status.updateTime);
  if (ours) return *lastSent_;
  return metric_ ? metric_->status : kNothing;
}

Duration Reporter::untilExpiry() const {
  if (setup_.everyInterval) return policy_.interval;
  const Duration held = metric_ ? api::reportValidity(metric_->meta.annotations) : Duration::zero();
  const Duration fresh = std::max(held, kReadersExpiry) - kFreshMargin;
  return std::max(policy_.interval, std::min(fresh, kFullEvery));
}

// Where something is sold, at the last round before it: the manager then sees the same moments as if
// every round were told.
bool Reporter::isStale(MonoTime now) const {
  if (!lastSentAt_) return true;
  const Duration age = now - *lastSentAt_;
  return age >= untilExpiry() || (sale_.isOpen() && age + policy_.interval > untilExpiry());
}

api::SaleRule Reporter::saleRule() const {
  const auto said = metric_ ? api::saleRule(metric_->meta.annotations) : std::nullopt;
  return said.value_or(Sale::kUnknownRule);
}

Tolerance Reporter::tolerance() const {
  constexpr double kTwoPercent = 0.02;
  Tolerance out;
  if (sale_.isOpen()) out.soldShare = out.nodeShare;
  // The manager gets its own moments, and everybody else everything every few minutes.
  if (sale_.isOpen() && metric_ && api::saleRule(metric_->meta.annotations))
    out.soldShare = out.nodeShare = kTwoPercent;
  return out;
}

bool Reporter::isFullDue(MonoTime now) const {
  return setup_.everyInterval || !lastFullAt_ || now - *lastFullAt_ >= kFullEvery;
}

void Reporter::watchLoad(const Look& look) {
  if (setup_.everyInterval) return;
  constexpr double kCpuFloor = 0.5, kMemoryShare = 0.02;
  const auto total = static_cast<double>(look.node.memoryTotal.v);
  bool jumped = false;
  if (look.node.usage.cpu) jumped |= cpuLoad_.jumped(look.at, *look.node.usage.cpu, kCpuFloor);
  if (look.node.usage.memory)
    jumped |= memoryLoad_.jumped(look.at, static_cast<double>(look.node.usage.memory->v),
                                 kMemoryShare * total);
  if (!jumped && !stallIsNews_) {
    earlyAt_ = MonoTime::max();
  } else if (earlyAt_ == MonoTime::max()) {
    // Many nodes may see the same jump: they do not all write in the same instant.
    const auto delay =
        static_cast<int64_t>(rng_.unit() * static_cast<double>(kEarlyJitter.count()));
    earlyAt_ = look.at + Duration(delay);
  }
}

void Reporter::stalled(MonoTime now) {
  const auto before = std::exchange(stalledAt_, now);
  if (!before || now - *before >= kCalm) stallIsNews_ = true;
}

void Reporter::tick(const Look& look, const Predict& predict) {
  if (!setup_.enabled) return;
  watchLoad(look);
  if (nextRound_ == MonoTime::min()) {
    // Nodes started together spread their rounds.
    nextRound_ = look.at + rng_.jitter(setup_.firstReport, 0.5);
    return;
  }
  if (inFlight_ || look.at < notBefore_) return;
  const bool early = look.at >= earlyAt_;
  const bool stale = lastSentAt_ && look.at - *lastSentAt_ >= untilExpiry();
  if (look.at < nextRound_ && !early && !stale) return;
  if (look.at >= nextRound_) nextRound_ = look.at + policy_.interval;
  round(look, predict, early);
}

void Reporter::round(const Look& look, const Predict& predict, bool early) {
  ++stats_.rounds;
  if (!metric_) {
    ++stats_.absent;
    return;
  }
  const Predicted predicted = predict();
  built_ = buildStatus({look, policy_, predicted});
  if (onStatus_) onStatus_(*built_);
  stats_.bytesWhole += json::write(toJson(*built_)).size();
  const bool sells = sale_.moves(*built_, look.at, saleRule());
  const bool due = sells || isFullDue(look.at);
  // The last report before it is due saves one of its own.
  isFull_ = due || isFullDue(look.at + untilExpiry());
  if (!early && !isStale(look.at) && !due &&
      !worthSending(known(), *built_, sizeOf(look), tolerance())) {
    ++stats_.skipped;
    return;
  }
  cpuLoad_.reported = cpuLoad_.now.value();
  memoryLoad_.reported = memoryLoad_.now.value();
  earlyAt_ = MonoTime::max();
  stallIsNews_ = false;
  notBefore_ = look.at + kShortestGap;
  send(isFull_ ? *built_ : withoutNoise(known(), *built_, sizeOf(look), tolerance()), early,
       look.at);
}

void Reporter::send(api::NodeMetricStatus status, bool early, MonoTime at) {
  const std::string body = json::write(statusPatch(known(), status));
  stats_.bytesSent += body.size();
  inFlight_ = true;
  auto request = client::patchRequest({client::kind::kNodeMetric, "", setup_.node, "status"},
                                      client::PatchType::kMerge, body);
  setup_.client.submit(setup_.owner, std::move(request),
                       life_.guard([this, status = std::move(status), early,
                                    at](const Result<client::Reply>& reply) mutable {
                         answered(reply, std::move(status), early, at);
                       }));
}

void Reporter::answered(const Result<client::Reply>& reply, api::NodeMetricStatus status,
                        bool early, MonoTime at) {
  inFlight_ = false;
  if (reply) {
    ++stats_.sent;
    failuresInARow_ = 0;
    stats_.early += early ? 1 : 0;
    sale_.told(status, at, saleRule());
    lastSent_ = std::move(status);
    lastSentAt_ = setup_.clock.mono();
    if (isFull_) lastFullAt_ = lastSentAt_;
    return;
  }
  ++stats_.failed;
  // What the server has is not known now: the next patch says everything that the object lacks.
  lastSent_.reset();
  nextRound_ = std::min(nextRound_, notBefore_);
  // Said once, and then every five minutes or so while it lasts.
  if (failuresInARow_++ % 30 == 0 && reply.error().code() != Code::kNotFound)
    log.warn("NodeMetric not written, next try in 10 s: {}", reply.error().text());
}

}  // namespace mangrove::agent
