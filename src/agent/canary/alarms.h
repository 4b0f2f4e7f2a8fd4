#pragma once
// Whether the knobs that keep batch work away from services still do anything: a kernel, a foreign
// writer or a new mount may have taken their effect away while every file reads as it should. Judged
// by a small experiment of our own (executor/canary_cell.h), by which scheduler the disks have, and
// by whether our network classes are there. Pure but for what the alarms remember; one owner.
//
//   CanaryAlarms alarms;
//   for (const KnobAlarm& news : alarms.add(judged(round))) raise(news);

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::agent {

// One round of the experiment; absent: it could not be made, and nothing is said.
struct CanaryRound {
  // Of one CPU's time that idle-class work got while ordinary work wanted all of it.
  std::optional<double> idleShare;
  // CPU seconds a second that work with a quota of a hundredth of a CPU got.
  std::optional<double> quotaCores;
  std::string trouble;
};
// "idle=0.01 quota=0.010"; what is not there is absent.
std::string roundText(const CanaryRound& round);
std::optional<CanaryRound> parseRound(std::string_view line);

// A knob and why it is taken to have lost its effect; "": it works.
using KnobFindings = std::map<std::string, std::string>;
inline constexpr double kMostIdleShare = 0.30, kMostQuotaCores = 0.05;
KnobFindings judged(const CanaryRound& round);
// Weights are held, and no disk goes by them: `schedulers` by disk ("[mq-deadline] none"), `cost`
// whether the cost model is on.
std::string diskFinding(const std::map<std::string, std::string>& schedulers, bool cost);

struct KnobAlarm {
  std::string knob, why;  // why "": it works again
  bool operator==(const KnobAlarm&) const = default;
};
// Two rounds in a row raise an alarm, one good one ends it: a round may meet a hiccup.
class CanaryAlarms {
 public:
  static constexpr int kRounds = 2;
  std::vector<KnobAlarm> add(const KnobFindings& findings);
  const std::map<std::string, std::string>& raised() const { return raised_; }

 private:
  std::map<std::string, int> bad_;
  std::map<std::string, std::string> raised_;
};

}  // namespace mangrove::agent
