#include "placement/plugins/deviceshare/node_lock.h"

#include <fmt/core.h>

#include "api/wire/kind.h"
#include "base/number/elapsed.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::placement {
namespace {

// "2026-03-01T12:00:00Z,default,train"; what cannot be read holds nobody up.
bool isHeld(const NodeLockWish& wish, std::string_view value) {
  const Halves when = cut(value, ',');
  const Halves who = cut(when.after, ',');
  const auto since = parseTime(when.before);
  if (!since || elapsed(*since, wish.now) > kNodeLockLife) return false;
  const api::ObjectMeta& own = wish.pod.meta;
  if (who.before == own.ns.view() && who.after == own.name.view()) return false;
  return wish.isThere(who.before, who.after);
}

}  // namespace

Result<ObjectPatch> takeNodeLock(const NodeLockWish& wish) {
  const api::ObjectMeta& node = wish.node.meta;
  const auto held = node.annotations.get(wish.key);
  if (held && isHeld(wish, *held))
    return fail(mangrove::Code::kConflict, "node {} is locked by its annotation {}: {}",
                node.name.view(), wish.key, *held);
  const api::ObjectMeta& pod = wish.pod.meta;
  const std::string value =
      fmt::format("{},{},{}", formatTime(wish.now), pod.ns.view(), pod.name.view());
  ObjectPatch out;
  out.kind = &api::kind::kNode;
  out.name = node.name.str();
  out.body = {{"metadata", json::Object{{"resourceVersion", node.resourceVersion},
                                        {"annotations", json::Object{{wish.key, value}}}}}};
  return out;
}

}  // namespace mangrove::placement
