#pragma once
// A day of one node's reports in made time: the real Reporter over a made node, once in the reference's
// rhythm (everything every minute) and once in each of ours, all of them looking at the same seconds.
// What each wrote, and what a manager put on the Node by it minute by minute.
//
//   auto day = liveReportDay({.shape = ReportShape::kWaves, .seed = 7}, managers);
//   day->rhythm(Rhythm::kOurs).reports
//
// Deterministic; one thread. A node-day with 20 pods takes about two seconds of processor.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

// How pods use the node: evenly; with 30 % of noise in every second; each in waves of half an hour of its
// own; all of them together through a day, from half to one and a half times their mean; and the same in
// half an hour, when every minute is another one and has to be told.
enum class ReportShape : uint8_t { kSteady, kNoise, kWaves, kTide, kSwell };
inline constexpr std::array kReportShapes = {ReportShape::kSteady, ReportShape::kNoise,
                                             ReportShape::kWaves, ReportShape::kTide,
                                             ReportShape::kSwell};
std::string_view shapeName(ReportShape shape);

enum class Rhythm : uint8_t {
  kReference,  // everything every interval
  kOurs,       // when a decision would change, and often enough for readers that call 180 s old
  kOursKnown,  // where readers know that ten minutes are enough (report-validity) and the manager says
               // when it writes (sale-rule)
};
inline constexpr std::array kRhythms = {Rhythm::kReference, Rhythm::kOurs, Rhythm::kOursKnown};
std::string_view rhythmName(Rhythm rhythm);

struct ReportDayOptions {
  ReportShape shape{};
  Duration length = std::chrono::hours(24);
  int64_t pods = 20;
  int64_t cpus = 32;
  uint64_t seed = 1;
  size_t keepBodies = 50;  // of each rhythm, evenly over the day
};

// What stands on the Node for sale: milli-cores and bytes.
struct SoldAmounts {
  double cpu = 0, memory = 0;
};
// A manager of one node: told each report, says what stands on the Node after it. One for each rhythm.
using Manager = std::function<SoldAmounts(const api::NodeMetricStatus&, MonoTime)>;
struct Managers {
  std::function<Manager()> make;
  std::string saleRule;  // as it says on the NodeMetric (api/annotations/sale_rule.h)
};

struct RhythmDay {
  int64_t reports = 0;
  uint64_t bytes = 0;
  Duration longestGap{};
  std::vector<SoldAmounts> sold;    // on the Node at each minute
  std::vector<std::string> bodies;  // of patches
};

struct ReportDay {
  std::array<RhythmDay, kRhythms.size()> rhythms;
  std::string status;  // the last one, whole, as JSON
  RhythmDay& rhythm(Rhythm which) { return rhythms[static_cast<size_t>(which)]; }
  const RhythmDay& rhythm(Rhythm which) const { return rhythms[static_cast<size_t>(which)]; }
};

// The first half hour fills windows and does not count.
Result<ReportDay> liveReportDay(const ReportDayOptions& options, const Managers& managers);

// How far what is sold by one rhythm is from the reference's, over nodes and minutes.
struct SoldGap {
  double meanShare = 0;    // of what the cluster sells, with its sign: never more on average
  double worstShare = 0;   // of what the cluster sells, at the worst minute
  double worstOfNode = 0;  // of one node's capacity, at its worst minute
  double worstOfSold = 0;  // of what one node sells (a core or more), at its worst minute
  double over = 0;         // minutes of nodes at which that is above 1 %, of all
  double pods = 0;  // pods of one core that fit, difference at the worst minute, of all that fit
};
SoldGap soldGap(const std::vector<const RhythmDay*>& reference,
                const std::vector<const RhythmDay*>& ours, const SoldAmounts& capacity);

}  // namespace mangrove::agent
