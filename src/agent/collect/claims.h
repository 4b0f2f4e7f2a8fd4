#pragma once
// Which persistent volume stands behind a pod's claim, asked of the API only for claims that
// somebody here wants to know: pods of this node whose annotation limits block I/O.
//
//   Claims claims(client, owner);
//   claims.tick(look);                                   // asks for what is new
//   claims.volumes().find("default/data")->second        // "pvc-0a1b…", once answered
//
// Owner thread. A claim that is not bound yet, or an API that does not answer, is asked again after
// half a minute; what no pod names any more is forgotten.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/look.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

// "namespace/name" of the claim behind a volume; nullopt: there is none.
std::optional<std::string> claimOf(const api::Pod& pod, const api::Volume& volume);
// Claims of pods whose block I/O is limited by annotation.
std::set<std::string> wantedClaims(const Look& look);

class Claims {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(30);

  Claims(client::ApiClient& client, Mailbox& owner) : client_(client), owner_(owner) {}
  ~Claims();
  void tick(const Look& look);
  const ClaimVolumes& volumes() const { return volumes_; }

 private:
  void ask(const std::string& claim);

  client::ApiClient& client_;
  Mailbox& owner_;
  ClaimVolumes volumes_;
  std::map<std::string, MonoTime> asked_;
  Lifetime life_;
};

}  // namespace mangrove::agent
