// Gangs: settings from the first pod or the PodGroup, and the books over a series of events.
#include <algorithm>

#include "api/koordinator/pod_group.h"
#include "placement/plugins/coscheduling/gang_book.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

template <class T>
T decoded(const json::Value& value) {
  auto out = api::decodeText<T>(json::write(value));
  return out ? std::move(*out) : T();
}

GangArgs argsOf(const json::Object& c) {
  const json::Value& given = member(c, "args");
  if (!given.is_object()) return {};
  GangArgs out;
  out.defaultTimeout = std::chrono::seconds(
      static_cast<int64_t>(number(given.get_object(), "defaultTimeoutSeconds")));
  const auto policy = text(given.get_object(), "defaultMatchPolicy");
  if (policy == "only-waiting") out.defaultMatchPolicy = api::GangMatchPolicy::kOnlyWaiting;
  if (policy == "waiting-and-running")
    out.defaultMatchPolicy = api::GangMatchPolicy::kWaitingAndRunning;
  return out;
}

json::Value settingsJson(const std::optional<GangSettings>& settings) {
  if (!settings) return json::Object{{"initialized", false}};
  json::Array groups;
  for (const auto& id : settings->groups) groups.emplace_back(id);
  return json::Object{
      {"initialized", true},
      {"min", settings->min},
      {"total", settings->total},
      {"mode", modeName(settings->mode)},
      {"match_policy", policyName(settings->policy)},
      {"wait_seconds", std::chrono::duration_cast<std::chrono::seconds>(settings->wait).count()},
      {"groups", groups},
      {"group_id", settings->groupId},
      {"source", settings->fromObject ? "podgroup" : "pod"}};
}

// One series of events on a book.
class Series {
 public:
  Series(const json::Object& c, Report& r)
      : case_(c), r_(r), byObject_(text(c, "via") == "podgroup") {
    for (const auto& value : member(c, "gangs").as_array()) {
      const json::Object& gang = value.as_object();
      gangs_[std::string(text(gang, "name"))] = &gang;
      if (!byObject_) continue;
      book_.put(decoded<api::PodGroup>(
          json::Object{{"metadata", json::Object{{"name", member(gang, "name")},
                                                 {"namespace", "ns"},
                                                 {"annotations", member(gang, "annotations")}}},
                       {"spec", json::Object{{"minMember", member(gang, "min")}}}}));
    }
  }

  void run() {
    for (const auto& value : member(case_, "events").as_array()) {
      const json::Object& event = value.as_object();
      at_ = "event " + std::to_string(count_++) + " ";
      apply(event);
      for (const auto& [name, wanted] : member(event, "gangs_after").as_object())
        r_.expect(at_ + std::string(name), wanted, stateOf(std::string(name)));
    }
  }

 private:
  void apply(const json::Object& event) {
    const auto what = text(event, "event");
    const api::Uid pod(text(event, "pod"));
    if (what == "add") {
      add(event);
    } else if (what == "pre_enqueue") {
      r_.expect(at_ + "result", member(event, "result"), json::Value(admission(book_.admit(pod))));
    } else if (what == "permit") {
      const auto got = book_.permit(pod);
      r_.expect(at_ + "result", member(event, "result"), got.go ? "success" : "wait");
      if (got.go)
        r_.expect(at_ + "also_allowed", member(event, "also_allowed"), names(got.released));
      if (!got.go)
        r_.expect(at_ + "wait_seconds", member(event, "wait_seconds"),
                  std::chrono::duration_cast<std::chrono::seconds>(got.wait).count());
    } else if (what == "unreserve") {
      const auto rejected = book_.unreserve(pod);
      for (const auto& uid : rejected) book_.unreserve(uid);
      r_.expect(at_ + "also_rejected", member(event, "also_rejected"), names(rejected));
    } else if (what == "bind") {
      const auto wave = book_.wave(pod);
      r_.expect(at_ + "bind_member_count", member(event, "bind_member_count"),
                wave ? json::Value(*wave) : json::Value());
      book_.bound(pod);
    } else if (what == "delete") {
      book_.remove(pod);
    }
  }

  void add(const json::Object& event) {
    const json::Object& gang = *gangs_.at(std::string(text(event, "gang")));
    json::Object meta{
        {"name", member(event, "pod")}, {"namespace", "ns"}, {"uid", member(event, "pod")}};
    if (byObject_)
      meta["labels"] = json::Object{{"pod-group.scheduling.sigs.k8s.io", member(gang, "name")}};
    else
      meta["annotations"] = member(gang, "annotations");
    book_.see(decoded<api::Pod>(json::Object{{"metadata", meta}}));
  }

  static std::string_view admission(GangBook::Admission got) {
    switch (got) {
      case GangBook::Admission::kPass:
        return "pass";
      case GangBook::Admission::kNotEnough:
        return "not-enough";
      case GangBook::Admission::kOtherRepresentative:
        return "other-representative";
      case GangBook::Admission::kNotPending:
        return "not-pending";
      case GangBook::Admission::kUnknown:
        break;
    }
    return "not-initialized";
  }
  static json::Value names(std::vector<api::Uid> uids) {
    std::vector<std::string> sorted;
    for (const auto& uid : uids) sorted.push_back(uid.str());
    std::sort(sorted.begin(), sorted.end());
    json::Array out;
    for (const auto& name : sorted) out.emplace_back(name);
    return out;
  }
  json::Value stateOf(const std::string& name) const {
    const Gang* gang = book_.find("ns/" + name);
    if (!gang) return {};
    return json::Object{{"children", gang->children()},
                        {"pending", gang->count(MemberState::kPending)},
                        {"waiting", gang->count(MemberState::kWaiting)},
                        {"bound", gang->count(MemberState::kBound)},
                        {"once_satisfied", gang->group->onceSatisfied}};
  }

  const json::Object& case_;
  Report& r_;
  bool byObject_;
  GangBook book_{GangArgs{}};
  std::map<std::string, const json::Object*> gangs_;
  std::string at_;
  int count_ = 0;
};

}  // namespace

void gangParse(const json::Object& c, Report& r) {
  const GangArgs args = argsOf(c);
  std::optional<GangSettings> settings;
  if (const json::Value& pod = member(c, "pod"); pod.is_object())
    settings = settingsOf(decoded<api::Pod>(pod), args);
  else
    settings = settingsOf(decoded<api::PodGroup>(member(c, "pod_group")), args);
  r.expect("gang", member(c, "gang"), settingsJson(settings));
}

void gangPermit(const json::Object& c, Report& r) {
  Series(c, r).run();
}

}  // namespace mangrove::vectors
