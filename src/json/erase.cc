#include "json/erase.h"

#include <utility>

namespace mangrove::json {

namespace {

bool isNulled(const Object& patch, std::string_view key) {
  const Value* value = patch.if_contains(key);
  return value && value->is_null();
}

}  // namespace

void eraseNulled(Object& target, const Object& patch) {
  constexpr size_t kFew = 8;
  size_t gone = 0;
  for (const auto& member : patch)
    gone += member.value().is_null() && target.contains(member.key());
  if (gone == 0) return;
  if (gone <= kFew) {
    for (const auto& member : patch) {
      if (!member.value().is_null()) continue;
      if (auto found = target.find(member.key()); found != target.end()) target.stable_erase(found);
    }
    return;
  }
  Object kept(target.storage());
  kept.reserve(target.size() - gone);
  for (auto& member : target)
    if (!isNulled(patch, member.key())) kept.emplace(member.key(), std::move(member.value()));
  target = std::move(kept);
}

}  // namespace mangrove::json
