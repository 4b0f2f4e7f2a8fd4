#include "placement/plugins/coscheduling/gang_page.h"

#include <algorithm>

#include "base/text/time_text.h"

namespace mangrove::placement {

namespace {

json::Array names(const Gang& gang, std::optional<MemberState> state) {
  const std::string prefix = gang.id.substr(0, gang.id.find('/') + 1);
  std::vector<std::string> sorted;
  for (const auto& [uid, member] : gang.members)
    if (state ? member.state == *state : member.state != MemberState::kFinished)
      sorted.push_back(prefix + member.name);
  std::sort(sorted.begin(), sorted.end());
  json::Array out;
  for (const auto& name : sorted) out.emplace_back(name);
  return out;
}

json::Value summary(const Gang& gang) {
  json::Object out{{"name", gang.id},
                   {"hasGangInit", gang.settings.has_value()},
                   {"gangGroupId", gang.group->id},
                   {"onceResourceSatisfied", gang.group->onceSatisfied},
                   {"representativePod", gang.group->representative.str()},
                   {"children", names(gang, std::nullopt)},
                   {"pendingChildren", names(gang, MemberState::kPending)},
                   {"waitingForBindChildren", names(gang, MemberState::kWaiting)},
                   {"boundChildren", names(gang, MemberState::kBound)}};
  if (!gang.settings) return out;
  out["minRequiredNumber"] = gang.settings->min;
  out["totalChildrenNum"] = gang.settings->total;
  out["mode"] = modeName(gang.settings->mode);
  out["gangMatchPolicy"] = policyName(gang.settings->policy);
  out["waitTime"] = formatDuration(gang.settings->wait);
  out["gangFrom"] = gang.settings->fromObject ? "GangFromPodGroupCrd" : "GangFromPodAnnotation";
  json::Array groups;
  for (const auto& id : gang.settings->groups) groups.emplace_back(id);
  out["gangGroup"] = groups;
  return out;
}

// Backfill: who is next, when it is expected to start and how many nodes are kept for it.
json::Value headPage(const KeptNodes& kept) {
  json::Object out{{"group", kept.head()}, {"keptNodes", kept.rows().size()}};
  const auto start = kept.start();
  if (start && *start != WallTime::max()) out["expectedStart"] = formatTime(*start);
  return out;
}

bool hasMembers(const json::Value& gang) {
  const auto* children = gang.as_object().if_contains("children");
  return children && !children->as_array().empty();
}

}  // namespace

json::Value joinGangPages(json::Value first, json::Value other, std::string_view path) {
  if (path == "head") return first.at("group").as_string().empty() ? other : first;
  if (path != "gangs") return hasMembers(first) || !hasMembers(other) ? first : other;
  json::Object& all = first.as_object();
  for (auto& [id, gang] : other.as_object())
    if (!all.contains(id) || (!hasMembers(all.at(id)) && hasMembers(gang))) all[id] = gang;
  return first;
}

std::optional<json::Value> gangPage(const GangBook& book, const KeptNodes& kept,
                                    std::string_view path) {
  if (path == "gangs") {
    json::Object out;
    for (const auto& [id, gang] : book.gangs()) out[id] = summary(*gang);
    return out;
  }
  if (path == "head") return headPage(kept);
  constexpr std::string_view kOne = "gang/";
  if (!path.starts_with(kOne)) return std::nullopt;
  const Gang* gang = book.find(std::string(path.substr(kOne.size())));
  return gang ? std::optional(summary(*gang)) : std::nullopt;
}

}  // namespace mangrove::placement
