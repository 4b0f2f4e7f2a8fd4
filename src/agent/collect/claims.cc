#include "agent/collect/claims.h"

#include "api/object/storage.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

}  // namespace

std::optional<std::string> claimOf(const api::Pod& pod, const api::Volume& volume) {
  const std::string ns(pod.meta.ns.view());
  if (volume.source == api::Volume::Source::kClaim)
    return fmt::format("{}/{}", ns, volume.id.view());
  if (volume.source == api::Volume::Source::kEphemeral)
    return fmt::format("{}/{}-{}", ns, pod.meta.name.view(), volume.name.view());
  return std::nullopt;
}

std::set<std::string> wantedClaims(const Look& look) {
  std::set<std::string> out;
  for (const PodLook& pod : look.pods) {
    if (!pod.pod || !pod.pod->meta.annotations.has(api::annotation::kBlkioQos)) continue;
    for (const api::Volume& volume : pod.pod->spec->volumes)
      if (auto claim = claimOf(*pod.pod, volume)) out.insert(*std::move(claim));
  }
  return out;
}

Claims::~Claims() {
  life_.end();
}

void Claims::tick(const Look& look) {
  const std::set<std::string> wanted = wantedClaims(look);
  const auto isOld = [&](const auto& one) { return wanted.count(one.first) == 0; };
  std::erase_if(volumes_, isOld);
  std::erase_if(asked_, isOld);
  for (const std::string& claim : wanted) {
    if (volumes_.count(claim) != 0) continue;
    const auto [at, isNew] = asked_.emplace(claim, look.at);
    if (!isNew && look.at - at->second < kRetry) continue;
    at->second = look.at;
    ask(claim);
  }
}

void Claims::ask(const std::string& claim) {
  const Halves name = cut(claim, '/');
  client::Request request;
  request.verb = client::Verb::kGet;
  request.ref = {client::kind::kPersistentVolumeClaim, std::string(name.before),
                 std::string(name.after)};
  client_.submit(owner_, std::move(request),
                 life_.guard([this, claim](const Result<client::Reply>& reply) {
                   auto object = reply ? api::decodeText<api::PersistentVolumeClaim>(reply->body)
                                       : Result<api::PersistentVolumeClaim>(pass(reply.error()));
                   if (!object) return log.debug("claim {}: {}", claim, object.error().text());
                   if (!object->volumeName.empty())
                     volumes_[claim] = std::string(object->volumeName.view());
                 }));
}

}  // namespace mangrove::agent
