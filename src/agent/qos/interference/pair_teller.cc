#include "agent/qos/interference/pair_teller.h"

#include <algorithm>

#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

const Logger log("interference");

}  // namespace

void PairTeller::tell(const api::Node& node, std::vector<api::ProvenPair> fresh, WallTime now) {
  for (api::ProvenPair& one : fresh)
    if (waiting_.size() < kMost) waiting_.push_back(std::move(one));
  if (waiting_.empty() || underWay_) return;
  const auto said = node.meta.annotations.get(api::kProvenPairs);
  std::vector<api::ProvenPair> all = api::parseProvenPairs(said.value_or("[]"));
  // What the Node says already was written by the request before this look.
  std::erase_if(waiting_, [&](const api::ProvenPair& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  });
  if (waiting_.empty()) return;
  for (const api::ProvenPair& one : waiting_) all = api::withPair(std::move(all), one, now);
  const json::Object body{
      {"metadata", {{"annotations", {{api::kProvenPairs, api::provenPairsText(all)}}}}}};
  underWay_ = true;
  client_.submit(owner_,
                 client::patchRequest({client::kind::kNode, "", node.meta.name.str(), ""},
                                      client::PatchType::kMerge, json::write(body)),
                 life_.guard([this](const Result<client::Reply>& reply) {
                   underWay_ = false;
                   if (reply) return said_.clear();
                   if (said_ == reply.error().text()) return;
                   said_ = reply.error().text();
                   log.warn("proven pairs of the node: {}", said_);
                 }));
}

}  // namespace mangrove::agent
