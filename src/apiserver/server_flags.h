#pragma once
// Flags of whoever puts the server on the network (`mangrove apiserver`, `mangrove up`), and what
// they name, opened: the audit log and the configuration of pod security. At start.

#include <memory>
#include <string>

#include "apiserver/audit/log.h"
#include "apiserver/pod_security/policy.h"
#include "base/clock.h"
#include "base/number/units.h"
#include "base/result.h"
#include "frame/flags.h"
#include "store/sealer.h"

namespace mangrove::apiserver {

struct ServerFlags {
  std::string podSecurityFile;
  std::string auditPolicyFile, auditLogPath;
  int64_t auditMegabytes = 100, auditFiles = 10;
  std::string storeSize = "4Gi";
  std::string sealingFile;

  void add(frame::Flags& flags);
  Result<pod_security::Configuration> podSecurity() const;
  // The most the store may hold; zero: no limit.
  Result<Bytes> storeLimit() const;
  // What Secrets are sealed with on the disk; null without a key file.
  Result<std::shared_ptr<const store::Sealer>> sealing() const;
  // Null without a policy. kInvalid when only one of the two files is named.
  Result<std::unique_ptr<audit::AuditLog>> openAudit(Clock& clock) const;
};

}  // namespace mangrove::apiserver
