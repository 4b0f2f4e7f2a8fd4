#include "agent/executor/reflex_file.h"

namespace mangrove::agent {

Result<ReflexFile> ReflexFile::open(const kernel::SysRoot& root, const std::string& path,
                                    const ReflexClaim& claim) {
  const FileRule* rule = ruleOf(claim.resource);
  if (rule == nullptr || !rankOf(*rule, claim.owner))
    return fail(Code::kDenied, "{} may not write {}", claim.owner, claim.resource);
  auto file = root.open(path, kernel::Access::kReadWrite);
  if (!file) return pass(file.error());
  return ReflexFile(*std::move(file), *rule, claim.version);
}

std::optional<int64_t> ReflexFile::present() const {
  char buffer[128];
  const auto size = file_.read(buffer);
  if (!size) return std::nullopt;
  const auto value = parseValue(*rule_, {buffer, *size}, version_);
  return value ? std::optional(value->number) : std::nullopt;
}

Result<bool> ReflexFile::narrow(int64_t most, std::optional<int64_t> has) const {
  if (has && *has <= most) return false;
  const auto wanted = checkedValue(*rule_, FileValue::of(most));
  if (!wanted) return pass(wanted.error());
  auto ok = file_.write(formatValue(*rule_, *wanted, version_));
  if (!ok) return pass(ok.error());
  return true;
}

}  // namespace mangrove::agent
