#include "apiserver/server_flags.h"

#include "apiserver/auth/sealing.h"
#include "base/number/quantity.h"
#include "base/os/files.h"

namespace mangrove::apiserver {

void ServerFlags::add(frame::Flags& flags) {
  flags.add("pod-security-config", podSecurityFile,
            "PodSecurityConfiguration: levels of namespaces without labels, and exemptions");
  flags.add("audit-policy-file", auditPolicyFile, "which requests the audit log names, and how");
  flags.add("audit-log-path", auditLogPath, "the audit log: one JSON object a line");
  flags.add("audit-log-maxsize", auditMegabytes, "megabytes before the audit log is turned over");
  flags.add("audit-log-maxbackup", auditFiles, "how many older audit logs are kept");
  flags.add("store-size", storeSize,
            "most bytes of objects; beyond, growth is refused and deletes go on; 0: no limit");
  flags.add("encryption-key-file", sealingFile,
            "keys that Secrets are encrypted with on the disk: lines NAME:BASE64 of 32 bytes, the "
            "first encrypts, all decrypt");
}

Result<std::shared_ptr<const store::Sealer>> ServerFlags::sealing() const {
  if (sealingFile.empty()) return std::shared_ptr<const store::Sealer>();
  auto text = readFile(sealingFile);
  if (!text) return text.error().in("--encryption-key-file");
  auto keys = SealingKeys::parse(*text, sealingFile);
  if (!keys) return keys.error().in("--encryption-key-file");
  return std::shared_ptr<const store::Sealer>(std::move(*keys));
}

Result<pod_security::Configuration> ServerFlags::podSecurity() const {
  if (podSecurityFile.empty()) return pod_security::Configuration();
  auto text = readFile(podSecurityFile);
  if (!text) return text.error().in("--pod-security-config");
  return pod_security::readConfiguration(*text, podSecurityFile);
}

Result<Bytes> ServerFlags::storeLimit() const {
  auto size = Quantity::parse(storeSize);
  if (!size || size->sign() < 0)
    return invalid("--store-size {}: want an amount of bytes such as 4Gi, or 0", storeSize);
  return size->bytes();
}

Result<std::unique_ptr<audit::AuditLog>> ServerFlags::openAudit(Clock& clock) const {
  if (auditPolicyFile.empty() && auditLogPath.empty()) return std::unique_ptr<audit::AuditLog>();
  if (auditPolicyFile.empty() || auditLogPath.empty())
    return invalid("want both --audit-policy-file and --audit-log-path, or neither");
  if (auditMegabytes < 1 || auditFiles < 0)
    return invalid("--audit-log-maxsize {} and --audit-log-maxbackup {}: want at least 1 and 0",
                   auditMegabytes, auditFiles);
  auto text = readFile(auditPolicyFile);
  if (!text) return text.error().in("--audit-policy-file");
  auto policy = audit::readPolicy(*text, auditPolicyFile);
  if (!policy) return pass(policy.error());
  return audit::AuditLog::open(
      {auditLogPath, std::move(*policy), auditMegabytes << 20, static_cast<int>(auditFiles)},
      clock);
}

}  // namespace mangrove::apiserver
