#include "agent/executor/audit.h"

#include "base/time_text.h"

namespace mangrove::agent {

json::Value toJson(const AuditRecord& record) {
  return json::Object{{"number", record.number},  {"at", formatMicroTime(record.at)},
                      {"owner", record.owner},    {"why", record.why},
                      {"cgroup", record.cgroup},  {"file", record.file},
                      {"from", record.from},      {"to", record.to},
                      {"outcome", record.outcome}};
}

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

json::Value AuditLog::toJson(uint64_t before, size_t limit) const {
  json::Array events;
  for (const AuditRecord& record : last(before, limit)) events.push_back(agent::toJson(record));
  return json::Object{{"events", std::move(events)}};
}

uint64_t AuditLog::count() const {
  std::lock_guard lock(mutex_);
  return next_ - 1;
}

}  // namespace mangrove::agent
