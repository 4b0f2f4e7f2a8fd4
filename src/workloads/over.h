#pragma once
// What every controller over one informer has in common. Owner thread.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object/event.h"
#include "api/select/selector.h"
#include "workloads/caches.h"
#include "workloads/claim.h"
#include "workloads/controller.h"

namespace mangrove::workloads {

inline api::Selector selectorOf(const std::optional<api::LabelSelector>& selector) {
  return api::compile(selector).value_or(api::Selector::nothing());
}

inline void append(std::vector<Amendment>& to, std::vector<Amendment> more) {
  for (auto& one : more) to.push_back(std::move(one));
}

template <class T>
class Over : public Controller {
 public:
  Over(const Caches& caches, const client::Informer<T>& informer, const api::Kind& kind)
      : caches_(caches), informer_(informer), kind_(kind) {}
  const api::Kind& kind() const override { return kind_; }
  std::optional<api::ObjectRef> about(std::string_view key) const override {
    auto object = informer_.find(key);
    if (!object) return std::nullopt;
    return api::refTo(kind_, object->meta);
  }
  std::optional<Plan> plan(std::string_view key, std::string_view trouble, WallTime now) override {
    auto object = informer_.find(key);
    if (!object) return std::nullopt;
    return planFor(*object, informer_.raw(key).value_or(""), trouble, now);
  }

 protected:
  virtual Plan planFor(const T& object, std::string raw, std::string_view trouble,
                       WallTime now) = 0;
  Claim<api::Pod> ownPods(const WorkloadHead& head) const {
    return claimOwn(kind_, head.meta, selectorOf(head.selector), api::kind::kPod,
                    caches_.podsOf(head.meta, true), api::isActive);
  }
  const Caches& caches_;
  const client::Informer<T>& informer_;
  const api::Kind& kind_;
};

}  // namespace mangrove::workloads
