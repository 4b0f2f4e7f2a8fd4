#include "agent/canary/alarms.h"

#include <fmt/format.h>

#include "base/text/strings.h"
#include "stats/histogram_text.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kIdle = "idle=";
constexpr std::string_view kQuota = "quota=";
constexpr std::string_view kTrouble = "trouble=";

}  // namespace

std::string roundText(const CanaryRound& round) {
  std::string out;
  if (round.idleShare) out += fmt::format("{}{:.4f} ", kIdle, *round.idleShare);
  if (round.quotaCores) out += fmt::format("{}{:.4f} ", kQuota, *round.quotaCores);
  if (!round.trouble.empty()) out += std::string(kTrouble) + round.trouble;
  return std::string(trim(out));
}

std::optional<CanaryRound> parseRound(std::string_view line) {
  CanaryRound out;
  if (const size_t at = line.find(kTrouble); at != std::string_view::npos) {
    out.trouble = std::string(line.substr(at + kTrouble.size()));
    line = line.substr(0, at);
  }
  bool any = !out.trouble.empty();
  for (const std::string_view word : split(line, ' ')) {
    const auto number = [&](std::string_view key) {
      return word.starts_with(key) ? stats::parseNumber(word.substr(key.size())) : std::nullopt;
    };
    if (const auto idle = number(kIdle)) out.idleShare = idle, any = true;
    if (const auto quota = number(kQuota)) out.quotaCores = quota, any = true;
  }
  return any ? std::optional(out) : std::nullopt;
}

KnobFindings judged(const CanaryRound& round) {
  KnobFindings out;
  if (round.idleShare)
    out["idle class"] = *round.idleShare > kMostIdleShare
                            ? fmt::format(
                                  "idle-class work got {:.0f} % of a CPU that ordinary work "
                                  "wanted, want at most {:.0f} %",
                                  100 * *round.idleShare, 100 * kMostIdleShare)
                            : "";
  if (round.quotaCores)
    out["CPU quota"] = *round.quotaCores > kMostQuotaCores
                           ? fmt::format(
                                 "work with a quota of 0.01 cores got {:.3f}, want at most "
                                 "{:.2f}",
                                 *round.quotaCores, kMostQuotaCores)
                           : "";
  return out;
}

std::string diskFinding(const std::map<std::string, std::string>& schedulers, bool cost) {
  if (cost || schedulers.empty()) return "";
  std::string all;
  for (const auto& [disk, text] : schedulers) {
    if (text.find("[bfq]") != std::string::npos) return "";
    all += (all.empty() ? "" : ", ") + disk + " " + std::string(trim(text));
  }
  return fmt::format("no disk goes by weights: want the cost model or the scheduler bfq, found {}",
                     all);
}

std::vector<KnobAlarm> CanaryAlarms::add(const KnobFindings& findings) {
  std::vector<KnobAlarm> out;
  for (const auto& [knob, why] : findings) {
    if (why.empty()) {
      bad_.erase(knob);
      if (raised_.erase(knob) > 0) out.push_back({knob, ""});
      continue;
    }
    if (++bad_[knob] < kRounds || raised_.count(knob) != 0) continue;
    raised_[knob] = why;
    out.push_back({knob, why});
  }
  return out;
}

}  // namespace mangrove::agent
