#pragma once
// An experiment on a running system as values: what is switched when, what was seen in each window,
// and what that says. Pure; any thread.
//
//   auto order = planWindows(nodes.size(), 20, seed);         // who starts with what, by lot
//   Comparison c = compareWindows(windows, {.design = Design::kSwitched});
//   c.p99.ratio                                               // on / off, with its interval

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stats/paired.h"

namespace mangrove::report {

enum class Arm : uint8_t { kOff, kOn };

// What was seen of one place (a node, or a service) during one window.
struct Window {
  std::string place;
  size_t pair = 0;
  Arm arm = Arm::kOff;
  uint64_t requests = 0;
  double p50 = 0, p99 = 0;  // ms
  std::optional<double> batchCores = {};
};

// Each pair of windows is an on and an off window, one after the other; which comes first is drawn
// for every pair and place. [pair][place]: true when "on" comes first.
std::vector<std::vector<bool>> planWindows(size_t places, size_t pairs, uint64_t seed);

enum class Design : uint8_t {
  kSwitched,  // the same place, on and off in random order: the lot does the work
  kReplicas,  // two sets of replicas at the same time: nothing was drawn, so neighbouring windows,
              // which resemble each other, are taken together
};

struct CompareOptions {
  Design design = Design::kSwitched;
  double confidence = 0.95;
  uint64_t leastRequests = 100;  // below that a window has no p99
};

struct Comparison {
  CompareOptions options;
  stats::Effect p50, p99;             // on / off
  stats::Interval batchOn, batchOff;  // cores, where it is known
  size_t windows = 0, leftOut = 0;    // leftOut: too few requests, or without a partner
};
Comparison compareWindows(const std::vector<Window>& windows, const CompareOptions& options);

// "no significant difference in p99: +1.2 % [-2.0, +4.5]".
std::string effectSentence(std::string_view what, const stats::Effect& effect);
std::string powerSentence(const stats::Effect& effect);
std::string toTable(const Comparison& comparison);
std::string toJson(const Comparison& comparison, const std::vector<Window>& windows);
std::string toHtml(const Comparison& comparison, const std::vector<Window>& windows,
                   std::string_view about);

// One line per window: place,pair,on|off,requests,p50 ms,p99 ms,batch cores; with a head line.
std::string toCsv(const std::vector<Window>& windows);
Result<std::vector<Window>> fromCsv(std::string_view text);

}  // namespace mangrove::report
