#pragma once
// One service that suffers, from the first sign to the end: who is suspected, what experiments said,
// what was done and taken back. A value that can be written and restored; one owner.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/interference/acquittals.h"
#include "agent/interference/past.h"
#include "agent/interference/scene.h"
#include "api/interference/report.h"
#include "json/fwd.h"

namespace mangrove::agent::interference {

// What a detector saw.
struct Finding {
  Resource resource = Resource::kUnknown;
  Evidence evidence = Evidence::kPressure;
  std::string signal;
  double observed = 0, fence = 0;
  double threshold = 0;  // of the correlation
  double perUnit = 1;    // what one of it is on the scale of the experiment's measurements; 0: none
};

class Episode {
 public:
  static constexpr Duration kPeriodSoftware = std::chrono::seconds(5);
  static constexpr Duration kPeriodCounters = std::chrono::seconds(20);
  // A percentile of ten seconds is as bad as before while a tenth of them was: a step is judged when
  // the whole window is of after it.
  static constexpr Duration kPeriodLatency = std::chrono::seconds(15);
  static constexpr Duration kInnocentFor = std::chrono::minutes(30);
  static constexpr Duration kUnknownFor = std::chrono::minutes(10);
  static constexpr Duration kHardCap = std::chrono::minutes(5);
  static constexpr Duration kLongest = std::chrono::hours(1);
  static constexpr size_t kCapsBeforeLeaving = 3;

  Episode(const Service& victim, const Finding& finding, WallTime now);

  // What the detector says of this tick; nullopt: calm, or not measured (then `measured` is false).
  void sees(const std::optional<Finding>& finding, bool measured);
  // What all episodes of the node share.
  struct Node {
    const Past& past;
    const Switches& switches;
    Acquittals& acquittals;
    bool mayTry = false;  // no other experiment runs here
    uint64_t seed = 0;
  };
  // One tick.
  Orders step(const Scene& scene, const Service& victim, const Node& node);
  // Whether it is over, and with it everything is given back.
  bool isOver() const { return !outcome_.empty(); }
  void end(std::string_view outcome, WallTime now);
  bool isTrying() const { return series_.has_value(); }
  // Nothing else helped: the service itself is to go elsewhere.
  bool wantsMove() const;
  double severity() const { return severity_; }

  api::InterferenceReport report(std::string_view node) const;
  // Something to tell since the last call.
  bool takeNews() { return std::exchange(news_, false); }
  std::string text() const;  // a line for `explain`

  json::Value state() const;
  // nullopt: not a state of ours. A series goes on with what it had; the pair is begun anew.
  static std::optional<Episode> restore(const json::Value& state, uint64_t seed);
  const std::string& victim() const { return uid_; }

 private:
  struct Judged {
    std::string name, application;
    double score = 0, correlation = 0, share = 0;
    Verdict verdict;
    bool tried = false;
  };
  Episode() = default;
  std::vector<Ranked> suspectsOf(const Scene& scene, const Node& node) const;
  bool isSevere() const;
  double excessOf(const Service& victim) const;
  void beginSeries(const Scene& scene, const Service& victim, const Node& node);
  void stepSeries(const Scene& scene, const Service& victim, const Node& node, Orders& out);
  void judged(WallTime now, const Node& node);
  void stepLadder(const Scene& scene, const Service& victim, const Node& node);
  void checkCap(WallTime now, const Node& node);
  void acquit(WallTime now, const Node& node, const std::string& why);
  void note(const Move& move, WallTime now);
  void act(WallTime now, std::string what);
  Orders standing(const Scene& scene) const;
  LadderLimits limitsOf(const Scene& scene, const Service& victim, const Switches& switches) const;
  double shareOf(const Scene& scene, const Past& past, const Neighbour& pod) const;
  const Neighbour* find(const Scene& scene, const std::string& uid) const;
  Duration period() const;

  std::string uid_, ns_, name_, application_;
  api::Qos qos_ = api::Qos::kLs;
  api::PriorityBand band_ = api::PriorityBand::kProd;
  Finding finding_;
  WallTime start_{}, end_{};
  double severity_ = 0;
  bool anomalous_ = true;
  std::string outcome_;
  bool news_ = true;

  Ladder ladder_;
  WallTime nextStep_{};
  std::map<std::string, Judged> suspects_;
  std::vector<api::InterferenceAction> actions_;

  std::optional<Series> series_;
  std::string suspect_;      // of the series
  double suspectUsual_ = 0;  // cores
  double seriesStart_ = 0;   // the victim's signal then
  double excess_ = 0;        // of its signal over the fence then
  std::string antagonist_;   // guilty
  double antagonistUsual_ = 0;
  std::vector<WallTime> hardCaps_;
};

}  // namespace mangrove::agent::interference
