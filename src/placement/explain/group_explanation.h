#pragma once
// Why a gang waits: what it needs, how much of it fits now, and what would help.
//
//   if (auto view = viewOf(pod, profile))
//     sentenceOf(explainGroup(engine, profile, *view, podOf))
//     // "gang group default/train needs 8 members, 6 fit; the 2 missing would fit with
//     //  1 less nvidia.com/gpu or after job default/etl ends"
//
// Everything is tried in a transaction and undone. Owner thread only.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/engine/engine.h"

namespace mangrove::placement {

struct GroupExplanation {
  std::string id;
  struct Part {
    GroupView::Part gang;
    size_t needed = 0;   // members that must get a place now
    size_t fitting = 0;  // and how many would
  };
  std::vector<Part> parts;
  bool isStrict = true;
  bool isSatisfied = false;  // nobody has to wait for others any more
  bool isComplete = false;   // every gang has as many members as it needs
  bool fits = false;
  std::string reason;              // of the member without a place
  std::vector<std::string> helps;  // each completes "would fit …"
  size_t needed() const;
  size_t fitting() const;
};

// Of the profile's plugins the first that knows a group of the pod.
std::optional<GroupView> viewOf(const api::Pod& pod, Profile& profile);

using PodLookup = std::function<PodPtr(const api::Uid&)>;  // of pods without a node
GroupExplanation explainGroup(Engine& engine, Profile& profile, const GroupView& view,
                              const PodLookup& pods);
std::string sentenceOf(const GroupExplanation& group);

}  // namespace mangrove::placement
