#include "agent/executor/audit.h"

namespace mangrove::agent {

void AuditLog::add(AuditRecord record) {
  if (onAdd_) onAdd_(record);
  std::lock_guard lock(mutex_);
  record.number = next_++;
  records_.push_back(std::move(record));
  if (records_.size() > kKept) records_.pop_front();
}

std::vector<AuditRecord> AuditLog::last(uint64_t before, size_t limit) const {
  std::lock_guard lock(mutex_);
  std::vector<AuditRecord> out;
  for (auto it = records_.rbegin(); it != records_.rend() && out.size() < limit; ++it)
    if (before == 0 || it->number < before) out.push_back(*it);
  return out;
}

uint64_t AuditLog::count() const {
  std::lock_guard lock(mutex_);
  return next_ - 1;
}

}  // namespace mangrove::agent
