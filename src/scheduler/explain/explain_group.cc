#include "scheduler/explain/explain_group.h"

#include <fmt/core.h>

#include "placement/plugins/coscheduling/gang_settings.h"
#include "scheduler/explain/filled_engine.h"

namespace mangrove::scheduler {

namespace {

// A member that its profile knows as one; the first by name, so that the answer is always the same.
const api::Pod* memberOf(FilledEngine& filled, const std::string& gang) {
  const api::Pod* best = nullptr;
  for (const auto& [uid, pod] : filled.pods()) {
    if (placement::gangIdOf(*pod) != gang || !filled.engine().profileOf(*pod)) continue;
    if (!best || pod->meta.name.view() < best->meta.name.view()) best = pod.get();
  }
  return best;
}

}  // namespace

Result<placement::GroupExplanation> explainGroup(client::ApiClient& client,
                                                 const SchedulerConfig& config,
                                                 const std::string& gang, Clock& clock) {
  auto filled = FilledEngine::make(client, config, clock);
  if (!filled) return pass(filled.error());
  const api::Pod* member = memberOf(**filled, gang);
  if (!member)
    return (*filled)->engine().cluster().podGroups.find(gang)
               ? fail(mangrove::Code::kNotFound, "gang {} has no pods yet", gang)
               : fail(mangrove::Code::kNotFound,
                      "no pod belongs to a gang {}, and there is no PodGroup of that name", gang);
  Profile& profile = *(*filled)->engine().profileOf(*member);
  const auto view = placement::viewOf(*member, profile);
  if (!view)
    return fail(mangrove::Code::kNotFound, "profile {} does not place gangs: {} is alone there",
                profile.config().schedulerName, member->meta.name.view());
  return placement::explainGroup((*filled)->engine(), profile, *view,
                                 [&](const api::Uid& uid) { return (*filled)->pending(uid); });
}

std::string toText(const placement::GroupExplanation& group) {
  std::string out;
  for (const auto& part : group.parts)
    out += fmt::format("  {:<28} needs {:>5}  members {:>5}  ready {:>5}  bound {:>5}  fit {:>5}\n",
                       part.gang.name, part.gang.min, part.gang.members, part.gang.ready,
                       part.gang.bound, part.fitting);
  if (!group.reason.empty()) out += fmt::format("\nthe first without a place: {}\n", group.reason);
  for (const auto& help : group.helps) out += fmt::format("would fit {}\n", help);
  return out;
}

json::Object toJson(const placement::GroupExplanation& group) {
  json::Array gangs, helps;
  for (const auto& part : group.parts)
    gangs.push_back(json::Object{{"name", part.gang.name},
                                 {"min", part.gang.min},
                                 {"members", part.gang.members},
                                 {"ready", part.gang.ready},
                                 {"bound", part.gang.bound},
                                 {"needed", part.needed},
                                 {"fitting", part.fitting}});
  for (const auto& help : group.helps) helps.emplace_back(help);
  return {{"group", group.id},          {"strict", group.isStrict}, {"started", group.isSatisfied},
          {"fits", group.fits},         {"gangs", gangs},           {"needed", group.needed()},
          {"fitting", group.fitting()}, {"reason", group.reason},   {"wouldHelp", helps}};
}

}  // namespace mangrove::scheduler
