#include "cli/quota_view.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "client/each_object.h"
#include "placement/quota/remedy.h"

namespace mangrove::cli {

Result<placement::QuotaArgs> quotaArgsOf(const placement::SchedulerConfig& config) {
  for (const placement::ProfileConfig& profile : config.profiles)
    if (const auto args = profile.args.find("ElasticQuota"); args != profile.args.end())
      return placement::readQuotaArgs(args->second);
  return placement::readQuotaArgs(nullptr);
}

Result<placement::QuotaArgs> quotaArgsIn(const std::string& configFile) {
  if (configFile.empty()) return placement::readQuotaArgs(nullptr);
  auto text = readFile(configFile);
  if (!text) return pass(text.error());
  const auto config = placement::readConfig(*text, configFile);
  return config ? quotaArgsOf(*config) : pass(config.error());
}

Result<std::unique_ptr<QuotaView>> QuotaView::load(client::ApiClient& client,
                                                   const placement::QuotaArgs& args,
                                                   const std::vector<api::ElasticQuota>& instead) {
  auto out = std::make_unique<QuotaView>(args);
  placement::QuotaPicture& picture = out->picture_;
  auto ok = client::eachObject<api::Node>(
      client, client::kind::kNode,
      [&](const std::shared_ptr<api::Node>& node) { picture.node(node); });
  if (!ok) return pass(ok.error());
  ok = client::eachObject<api::ElasticQuota>(client, client::kind::kElasticQuota,
                                             [&](const std::shared_ptr<api::ElasticQuota>& quota) {
                                               for (const auto& other : instead)
                                                 if (other.meta.name == quota->meta.name) return;
                                               picture.quota(quota);
                                             });
  if (!ok) return pass(ok.error());
  for (const api::ElasticQuota& quota : instead)
    picture.quota(std::make_shared<api::ElasticQuota>(quota));
  ok = client::eachObject<api::Pod>(
      client, client::kind::kPod, [&](const std::shared_ptr<api::Pod>& pod) {
        picture.pod(*pod, realClock().wall());
        out->pods_.push_back({api::keyOf(pod->meta).text(), pod->meta.uid});
      });
  if (!ok) return pass(ok.error());
  ok = client::eachObject<api::Reservation>(client, client::kind::kReservation,
                                            [&](const std::shared_ptr<api::Reservation>& one) {
                                              picture.reservation(*one, realClock().wall());
                                            });
  if (!ok) return pass(ok.error());
  return out;
}

std::string quotaWhy(QuotaView& view, const api::Uid& uid) {
  const placement::QuotaDesk& desk = view.desk();
  const placement::QuotaPod* pod = desk.book().podOf(uid);
  const placement::QuotaPlace place = desk.book().placeOf(uid);
  if (pod == nullptr || !place || pod->assigned) return "";
  const auto refusals =
      placement::judgeAll(*place.ledger, place.id, *pod->request, pod->kind, desk.rules());
  std::string out = fmt::format("Quota: {}", place.name());
  if (const auto said = desk.objection({place, pod->request, pod->kind}); said && refusals.empty())
    return fmt::format("{}\n  {}\n", out, *said);
  if (refusals.empty()) return out + " has room\n";
  const auto line = desk.book().lineOf(uid);
  out += fmt::format(" has no room; the pod is {} of {} that wait there\n", line.before + 1,
                     line.waiting);
  for (const placement::QuotaRefusal& refusal : refusals)
    for (const placement::Shortage& one : refusal.shortages)
      out += fmt::format(
          "  {}quota {} refuses: {}\n",
          refusal.check == placement::QuotaCheck::kNonPreemptible ? "the minimum of " : "",
          place.ledger->terms(refusal.quota).name, placement::textOf(one));
  std::vector<std::string> changes;
  for (const placement::QuotaChange& change :
       placement::leastChange(*place.ledger, place.id, *pod->request, pod->kind, desk.rules()))
    changes.push_back(placement::textOf(*place.ledger, change));
  if (!changes.empty()) out += fmt::format("  to be admitted: {}\n", join(changes, "; "));
  return out;
}

}  // namespace mangrove::cli
