#pragma once
// All episodes of a node: detects which services suffer, keeps one episode for each of the three that
// suffer most, lets one experiment run at a time, and sums up what all of them want.
//
//   Episodes episodes;
//   Orders orders = episodes.step(scene, switches);          // every tick
//   for (const auto& report : episodes.takeReports("n1")) write(report);
//
// No files, no clock, no thread of its own. One owner.

#include <map>
#include <string>
#include <vector>

#include "agent/interference/episode.h"
#include "json/fwd.h"

namespace mangrove::agent::interference {

class Episodes {
 public:
  explicit Episodes(uint64_t seed = 1) : seed_(seed) {}

  // Of the lots; while no episode is open.
  void reseed(uint64_t seed) { seed_ = seed; }
  Orders step(const Scene& scene, const Switches& switches);
  // Whether this service's stalls are wanted at every tick.
  bool watches(const std::string& uid) const { return open_.count(uid) != 0; }
  // Those with news, since the last call.
  std::vector<api::InterferenceReport> takeReports(std::string_view node);
  std::string text() const;  // for `explain`
  size_t size() const { return open_.size(); }
  // Ended ones by resource and outcome, since the start.
  const std::map<std::pair<std::string, std::string>, uint64_t>& ended() const { return ended_; }

  json::Value state() const;
  void restore(const json::Value& state);

 private:
  struct Sense {
    Held held;
    TwoOfThree counters;
  };
  struct Seen {
    std::optional<Finding> lasting;  // for a new episode
    std::optional<Finding> now;      // for one that is there
    bool measured = false;
  };
  Seen detect(const Service& service, const Switches& switches, MonoTime at);
  void open(const Service& service, const Finding& finding, WallTime now);
  void close(const std::string& uid);
  bool isTrying() const;

  std::map<std::string, Episode> open_;  // by victim
  std::map<std::string, Sense> senses_;
  std::vector<Episode> closed_;  // with news
  Past past_;
  Acquittals acquittals_;
  uint64_t seed_;
  std::map<std::pair<std::string, std::string>, uint64_t> ended_;
};

}  // namespace mangrove::agent::interference
