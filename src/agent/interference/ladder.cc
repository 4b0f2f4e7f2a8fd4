#include "agent/interference/ladder.h"

#include <algorithm>
#include <cmath>

#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

struct Name {
  Rung rung;
  std::string_view key, text;
};
constexpr Name kNames[] = {
    {Rung::kIdleClass, "L1", "L1 idle class"},
    {Rung::kSiblings, "L2", "L2 off the siblings"},
    {Rung::kCacheWays, "L3", "L3 cache ways"},
    {Rung::kBandwidth, "L4", "L4 memory bandwidth"},
    {Rung::kIoWeight, "io-weight", "disk weight"},
    {Rung::kNetClass, "net-class", "network class"},
    {Rung::kMemoryHigh, "memory-high", "memory throttle"},
    {Rung::kQuota, "L5", "L5 CPU quota"},
    {Rung::kHardCap, "L6", "L6 hard cap"},
    {Rung::kLeave, "L7", "L7 eviction"},
    {Rung::kMoveVictim, "L8", "L8 migration of the victim"},
};

constexpr double kWaysShare = 0.10, kLeastWays = 2;
constexpr double kLeastBandwidth = 10, kBandwidthBack = 10;
constexpr double kQuotaDown = 0.8, kQuotaBack = 0.05, kQuotaShare = 0.10, kLeastCores = 1;
constexpr double kCapBestEffort = 0.01, kCapOther = 0.1;
constexpr double kMemoryDown = 0.8, kLeastMemory = 0.5, kMemoryBack = 0.05;
constexpr int kSevereSteps = 2;
constexpr size_t kMostAccounts = 64;

double leastWays(const LadderLimits& limits) {
  return std::max(kLeastWays, std::ceil(kWaysShare * limits.ways));
}

// On or off: its amount is 1 or 0.
bool isSwitch(Rung rung) {
  return rung == Rung::kIdleClass || rung == Rung::kSiblings || rung == Rung::kIoWeight ||
         rung == Rung::kNetClass || rung == Rung::kLeave || rung == Rung::kMoveVictim;
}

}  // namespace

std::string_view rungName(Rung rung) {
  return kNames[static_cast<size_t>(rung)].text;
}

std::optional<Rung> rungNamed(std::string_view name) {
  for (const Name& one : kNames)
    if (one.key == name) return one.rung;
  return std::nullopt;
}

bool isAgainstOnePod(Rung rung) {
  return rung >= Rung::kQuota;
}

std::vector<Rung> rungsFor(Resource resource) {
  using enum Rung;
  switch (resource) {
    case Resource::kCpu:
      return {kIdleClass, kSiblings, kQuota, kHardCap, kLeave, kMoveVictim};
    case Resource::kCache:
      return {kCacheWays, kQuota, kHardCap, kLeave, kMoveVictim};
    case Resource::kBandwidth:
      return {kBandwidth, kQuota, kHardCap, kLeave, kMoveVictim};
    case Resource::kIo:
      return {kIoWeight, kHardCap, kLeave, kMoveVictim};
    case Resource::kNetwork:
      return {kNetClass, kLeave, kMoveVictim};
    case Resource::kMemory:
      return {kMemoryHigh, kLeave, kMoveVictim};
    case Resource::kPower:
    case Resource::kUnknown:
      return {kQuota, kHardCap, kLeave, kMoveVictim};
  }
  return {};
}

Ladder::Ladder(Resource resource, LadderLimits limits)
    : rungs_(rungsFor(resource)), limits_(std::move(limits)) {}

bool Ladder::has(Rung rung) const {
  if (limits_.off.count(rung) != 0) return false;
  switch (rung) {
    case Rung::kCacheWays:
      return limits_.ways > 0 && limits_.offlineWays > leastWays(limits_);
    case Rung::kBandwidth:
      return limits_.bandwidth;
    case Rung::kLeave:
      return limits_.mayLeave;
    case Rung::kMoveVictim:
      return limits_.victimMayMove;
    default:
      return true;
  }
}

double Ladder::fullOf(Rung rung) const {
  switch (rung) {
    case Rung::kCacheWays:
      return limits_.offlineWays;
    case Rung::kBandwidth:
      return 100;
    case Rung::kQuota:
    case Rung::kHardCap:
      return limits_.antagonistCores;
    default:
      return 1;
  }
}

std::optional<double> Ladder::narrower(Rung rung, double amount) const {
  const auto least = [&](double wanted, double floor) -> std::optional<double> {
    const double value = std::max(wanted, floor);
    return value < amount ? std::optional(value) : std::nullopt;
  };
  switch (rung) {
    case Rung::kCacheWays:
      return least(std::floor(amount / 2), leastWays(limits_));
    case Rung::kBandwidth:
      return least(std::floor(amount / 2), kLeastBandwidth);
    case Rung::kQuota:
      return least(amount * kQuotaDown,
                   std::max(kLeastCores, kQuotaShare * limits_.antagonistCores));
    case Rung::kMemoryHigh:
      return least(amount * kMemoryDown, kLeastMemory);
    case Rung::kHardCap:
      return least(limits_.bestEffort ? kCapBestEffort : kCapOther, 0);
    default:
      return isSwitch(rung) ? least(0, 0) : std::nullopt;
  }
}

double Ladder::wider(Rung rung, double amount) const {
  switch (rung) {
    case Rung::kCacheWays:
      return amount + 1;
    case Rung::kBandwidth:
      return amount + kBandwidthBack;
    case Rung::kQuota:
      return amount + kQuotaBack * limits_.antagonistCores;
    case Rung::kMemoryHigh:
      return amount + kMemoryBack;
    default:
      return fullOf(rung);
  }
}

// The first that is there, is not in force and was not given up. Of steps against one pod nobody can
// tell how far they go before it is known which one.
std::optional<Rung> Ladder::nextRung(bool proven) const {
  size_t from = 0;
  for (const Taken& one : taken_) {
    const auto at = std::find(rungs_.begin(), rungs_.end(), one.rung);
    if (at != rungs_.end()) from = std::max(from, static_cast<size_t>(at - rungs_.begin()) + 1);
  }
  for (size_t i = from; i < rungs_.size(); ++i) {
    const Rung rung = rungs_[i];
    if (!has(rung) || left_.count(rung) != 0) continue;
    if ((isAgainstOnePod(rung) && !proven) || narrower(rung, fullOf(rung))) return rung;
  }
  return std::nullopt;
}

// The present rung is left for the next one: was it any good?
void Ladder::settle(const LadderInput& input, std::vector<Move>& moves) {
  if (taken_.empty()) return;
  const Taken last = taken_.back();
  const double excess = last.before - input.fence;
  const bool helped = excess > 0 && last.before - input.metric >= limits_.leastHelp * excess;
  account_.push_back({last.rung, last.before, input.metric, helped, true});
  if (account_.size() > kMostAccounts) account_.erase(account_.begin());
  if (helped) return;
  left_.insert(last.rung);
  taken_.pop_back();
  moves.push_back({Move::Kind::kUp, last.rung, last.full, true});
}

Move Ladder::down(const LadderInput& input, std::vector<Move>& moves) {
  if (!taken_.empty()) {
    Taken& present = taken_.back();
    if (const auto amount = narrower(present.rung, present.amount)) {
      present.amount = *amount;
      return {Move::Kind::kDown, present.rung, *amount};
    }
  }
  const auto next = nextRung(input.proven);
  if (!next) return {Move::Kind::kExhausted};
  if (isAgainstOnePod(*next) && !input.proven) return {Move::Kind::kAskProof, *next};
  settle(input, moves);
  const double full = fullOf(*next);
  const double amount = narrower(*next, full).value_or(full);
  taken_.push_back({*next, amount, full, input.metric});
  return {Move::Kind::kDown, *next, amount};
}

Move Ladder::up() {
  Taken& last = taken_.back();
  const double amount = wider(last.rung, last.amount);
  Move move{Move::Kind::kUp, last.rung, std::min(amount, last.full), amount >= last.full};
  last.amount = move.amount;
  if (move.released) taken_.pop_back();
  return move;
}

std::vector<Move> Ladder::step(const LadderInput& input) {
  std::vector<Move> moves;
  if (!input.anomalous) {
    if (taken_.empty()) {
      left_.clear();
      return moves;
    }
    if (++calm_ < limits_.calmPeriods) return moves;
    calm_ = 0;
    moves.push_back(up());
    return moves;
  }
  calm_ = 0;
  for (int i = 0; i < (input.severe ? kSevereSteps : 1); ++i) {
    moves.push_back(down(input, moves));
    if (moves.back().kind != Move::Kind::kDown) break;
  }
  return moves;
}

std::vector<Move> Ladder::dropAntagonist() {
  std::vector<Move> moves;
  while (!taken_.empty() && isAgainstOnePod(taken_.back().rung)) {
    moves.push_back({Move::Kind::kUp, taken_.back().rung, taken_.back().full, true});
    taken_.pop_back();
  }
  std::erase_if(left_, isAgainstOnePod);
  return moves;
}

json::Value Ladder::state() const {
  json::Array taken;
  for (const Taken& one : taken_)
    taken.push_back(json::Object{{"rung", kNames[static_cast<size_t>(one.rung)].key},
                                 {"amount", one.amount},
                                 {"full", one.full},
                                 {"before", one.before}});
  json::Array left;
  for (const Rung one : left_) left.emplace_back(kNames[static_cast<size_t>(one)].key);
  return json::Object{{"taken", std::move(taken)}, {"left", std::move(left)}, {"calm", calm_}};
}

void Ladder::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const auto list = [&](const char* name) -> const json::Array* {
    const json::Value* value = top ? top->if_contains(name) : nullptr;
    return value ? value->if_array() : nullptr;
  };
  const auto rungOf = [](const json::Value* value) {
    const auto* text = value ? value->if_string() : nullptr;
    return text ? rungNamed(std::string_view(*text)) : std::nullopt;
  };
  const auto number = [](const json::Object& from, const char* name) {
    const json::Value* value = from.if_contains(name);
    return value && value->is_number() ? value->to_number<double>() : 0.0;
  };
  if (const json::Array* taken = list("taken"))
    for (const json::Value& value : *taken)
      if (const json::Object* one = value.if_object())
        if (const auto rung = rungOf(one->if_contains("rung")))
          taken_.push_back(
              {*rung, number(*one, "amount"), number(*one, "full"), number(*one, "before")});
  if (const json::Array* left = list("left"))
    for (const json::Value& one : *left)
      if (const auto rung = rungOf(&one)) left_.insert(*rung);
  if (top) calm_ = static_cast<int>(number(*top, "calm"));
}

LatencyRuling latencyRuling(double promised, double tail, double load, bool wasOff) {
  constexpr double kNoGrowth = 0.10, kShrink = 0.05, kOffAbove = 0.85, kOnBelow = 0.80;
  constexpr int kCores = 2;
  using Kind = LatencyRuling::Kind;
  if (promised <= 0) return {};
  const double slack = (promised - tail) / promised;
  if (slack < 0) return {Kind::kOff, std::chrono::seconds(300), 0};
  if (load > kOffAbove || (wasOff && load >= kOnBelow)) return {Kind::kOff, {}, 0};
  if (slack < kShrink) return {Kind::kShrink, {}, kCores};
  if (slack < kNoGrowth) return {Kind::kNoGrowth, {}, 0};
  return {};
}

double coresToShed(double bandwidth, double peak, double perCore) {
  constexpr double kMost = 0.9;
  if (peak <= 0 || perCore <= 0 || bandwidth <= kMost * peak) return 0;
  return (bandwidth - kMost * peak) / perCore;
}

}  // namespace mangrove::agent::interference
