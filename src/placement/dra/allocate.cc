#include "placement/dra/allocate.h"

#include <algorithm>
#include <map>
#include <optional>

#include "placement/dra/objects.h"
#include "placement/dra/selector.h"

namespace mangrove::placement {
namespace {

// So many choices are tried on one node before it is passed over.
constexpr int64_t kMostTries = 100'000;

// A device that can be had on the node.
struct Offer {
  const DevicePool* pool;
  const api::OfferedDevice* device;
  bool isLocal = false;
  bool isFree = true;
};

bool onNode(const api::ResourceSlice& slice, const api::OfferedDevice& device,
            const api::ObjectMeta& node) {
  if (slice.allNodes || device.allNodes) return true;
  if (!slice.nodeName.empty() || !device.nodeName.empty())
    return node.name.view() == slice.nodeName || node.name.view() == device.nodeName;
  const auto& selector = slice.nodeSelector ? slice.nodeSelector : device.nodeSelector;
  return selector && api::NodeTerms(*selector).match(node);
}

// Whether anything that is known of the pool can be had on the node: others' troubles are not its.
bool reaches(const DevicePool& pool, const api::ObjectMeta& node) {
  return std::any_of(pool.slices.begin(), pool.slices.end(), [&](const auto& slice) {
    return node.name.view() == slice->nodeName ||
           std::any_of(slice->devices.begin(), slice->devices.end(),
                       [&](const auto& device) { return onNode(*slice, device, node); });
  });
}

std::vector<Offer> offersOn(const ClaimsQuestion& q) {
  std::vector<Offer> out;
  for (const DevicePool& pool : q.pools) {
    if (!pool.trouble.empty()) continue;
    for (const auto& slice : pool.slices)
      for (const api::OfferedDevice& device : slice->devices) {
        if (!device.special.empty() || !onNode(*slice, device, q.node)) continue;
        const bool free = !q.inUse.contains(deviceKey({"", pool.driver, pool.name, device.name}));
        out.push_back({&pool, &device, !slice->allNodes && !device.allNodes, free});
      }
  }
  return out;
}

bool isTolerated(const api::OfferedDevice& device, const api::DeviceRequest& request) {
  return std::all_of(
      device.taints.begin(), device.taints.end(), [&](const api::DeviceTaint& taint) {
        if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return true;
        return std::any_of(request.tolerations.begin(), request.tolerations.end(),
                           [&](const api::DeviceToleration& one) { return one.tolerates(taint); });
      });
}

Result<std::vector<DeviceSelector>> selectorsOf(const api::DeviceRequest& request,
                                                const ObjectMap<api::DeviceClass>& classes) {
  const auto cls = classes.find(request.deviceClass);
  if (!cls)
    return fail(mangrove::Code::kNotFound, "DeviceClass {} does not exist", request.deviceClass);
  std::vector<DeviceSelector> out;
  for (const auto* list : {&cls->selectors, &request.selectors})
    for (const std::string& text : *list) {
      auto selector = parseDeviceSelector(text);
      if (!selector) return pass(selector.error());
      out.push_back(std::move(*selector));
    }
  return out;
}

const api::DeviceAttribute* attributeOf(const Offer& offer, const std::string& name) {
  const auto& all = offer.device->attributes;
  auto at = all.find(name);
  const std::string own = offer.pool->driver + "/";
  if (at == all.end() && name.starts_with(own)) at = all.find(name.substr(own.size()));
  return at == all.end() ? nullptr : &at->second;
}

// A request of one of the claims, with the devices it could have.
struct Wanted {
  size_t claim;
  const api::DeviceRequest* request;
  std::vector<size_t> candidates;  // places in the offers
  size_t count = 1;
};

class ClaimSearch {
 public:
  ClaimSearch(const ClaimsQuestion& question, const std::vector<const api::ResourceClaim*>& claims)
      : question_(question), claims_(claims), offers_(offersOn(question)), taken_(offers_.size()) {}

  Result<std::vector<AllocatedClaim>> run() {
    for (size_t i = 0; i < claims_.size(); i++)
      for (const api::DeviceRequest& request : claims_[i]->requests)
        if (auto ok = want(i, request); !ok) return ok.error().in("request {}", request.name);
    if (!search(0, 0, 0)) {
      if (tries_ > kMostTries)
        return fail(mangrove::Code::kUnavailable,
                    "more than {} combinations of devices, none of them fits", kMostTries);
      return fail(mangrove::Code::kUnavailable,
                  "no free devices meet all requests and constraints");
    }
    return result();
  }

 private:
  Result<> want(size_t claim, const api::DeviceRequest& request) {
    auto selectors = selectorsOf(request, question_.classes);
    if (!selectors) return pass(selectors.error());
    Wanted wanted{claim, &request, {}, static_cast<size_t>(std::max<int64_t>(0, request.count))};
    size_t matching = 0;
    for (size_t i = 0; i < offers_.size(); i++) {
      const auto fits = matches(offers_[i], request, *selectors);
      if (!fits) return pass(fits.error());
      matching += *fits;
      if (*fits && offers_[i].isFree) wanted.candidates.push_back(i);
    }
    if (request.all) {
      if (auto ok = checkAll(wanted, matching); !ok) return ok;
      wanted.count = matching;
    }
    if (wanted.candidates.size() < wanted.count)
      return fail(mangrove::Code::kUnavailable,
                  "wants {} devices; {} of the {} that match are free", wanted.count,
                  wanted.candidates.size(), matching);
    wanted_.push_back(std::move(wanted));
    return {};
  }
  Result<> checkAll(const Wanted& wanted, size_t matching) const {
    for (const DevicePool& pool : question_.pools)
      if (!pool.trouble.empty() && reaches(pool, question_.node))
        return fail(mangrove::Code::kUnavailable,
                    "wants all devices, but pool {} of {} is incomplete: {}", pool.name,
                    pool.driver, pool.trouble);
    if (matching == 0)
      return fail(mangrove::Code::kUnavailable, "wants all devices, and none matches");
    if (wanted.candidates.size() < matching)
      return fail(mangrove::Code::kUnavailable, "wants all devices; {} of {} are free",
                  wanted.candidates.size(), matching);
    return {};
  }
  static Result<bool> matches(const Offer& offer, const api::DeviceRequest& request,
                              const std::vector<DeviceSelector>& selectors) {
    if (!isTolerated(*offer.device, request)) return false;
    for (const DeviceSelector& selector : selectors) {
      auto fits = selector.matches({offer.pool->driver, *offer.device});
      if (!fits || !*fits) return fits;
    }
    return true;
  }

  // Serves the `at`-th request from its `done`-th device on; candidates before `from` were tried.
  bool search(size_t at, size_t done, size_t from) {
    if (at == wanted_.size()) return true;
    const Wanted& wanted = wanted_[at];
    if (done == wanted.count) return search(at + 1, 0, 0);
    for (size_t i = from; i < wanted.candidates.size(); i++) {
      const size_t offer = wanted.candidates[i];
      if (taken_[offer] || !meetsConstraints(wanted, offers_[offer])) continue;
      if (++tries_ > kMostTries) return false;
      taken_[offer] = true;
      picks_.push_back({at, offer});
      if (search(at, done + 1, i + 1)) return true;
      picks_.pop_back();
      taken_[offer] = false;
    }
    return false;
  }
  bool meetsConstraints(const Wanted& wanted, const Offer& offer) const {
    for (const api::DeviceConstraint& one : claims_[wanted.claim]->constraints)
      if (concerns(one, *wanted.request) && !meets(one, wanted.claim, offer)) return false;
    return true;
  }
  static bool concerns(const api::DeviceConstraint& constraint, const api::DeviceRequest& request) {
    return constraint.requests.empty() ||
           std::find(constraint.requests.begin(), constraint.requests.end(), request.name) !=
               constraint.requests.end();
  }
  bool meets(const api::DeviceConstraint& constraint, size_t claim, const Offer& offer) const {
    const bool same = !constraint.matchAttribute.empty();
    const std::string& name = same ? constraint.matchAttribute : constraint.distinctAttribute;
    const api::DeviceAttribute* value = attributeOf(offer, name);
    if (!value) return false;
    return std::all_of(picks_.begin(), picks_.end(), [&](const Pick& pick) {
      const Wanted& other = wanted_[pick.wanted];
      if (other.claim != claim || !concerns(constraint, *other.request)) return true;
      return (*attributeOf(offers_[pick.offer], name) == *value) == same;
    });
  }

  std::vector<AllocatedClaim> result() const {
    std::vector<AllocatedClaim> out(claims_.size());
    for (const Pick& pick : picks_) {
      const Wanted& wanted = wanted_[pick.wanted];
      const Offer& offer = offers_[pick.offer];
      AllocatedClaim& claim = out[wanted.claim];
      claim.devices.push_back(
          {wanted.request->name, offer.pool->driver, offer.pool->name, offer.device->name});
      claim.isLocal = claim.isLocal || offer.isLocal;
    }
    return out;
  }

  struct Pick {
    size_t wanted, offer;
  };
  const ClaimsQuestion& question_;
  const std::vector<const api::ResourceClaim*>& claims_;
  std::vector<Offer> offers_;
  std::vector<bool> taken_;
  std::vector<Wanted> wanted_;
  std::vector<Pick> picks_;
  int64_t tries_ = 0;
};

std::string troubleOf(const DevicePool& pool) {
  const api::ResourceSlice& any = *pool.slices.front();
  std::set<std::string_view> names;
  for (const auto& slice : pool.slices)
    for (const api::OfferedDevice& device : slice->devices)
      if (!names.insert(device.name).second)
        return fmt::format("device {} is named twice", device.name);
  if (static_cast<int64_t>(pool.slices.size()) == any.slices) return "";
  return fmt::format("{} of {} slices are there", pool.slices.size(), any.slices);
}

}  // namespace

std::vector<DevicePool> poolsOf(const ObjectMap<api::ResourceSlice>& slices) {
  std::map<std::pair<std::string, std::string>, DevicePool> pools;
  for (const auto& [name, slice] : slices) {
    DevicePool& pool = pools[{slice->driver, slice->pool}];
    pool.driver = slice->driver;
    pool.name = slice->pool;
    if (!pool.slices.empty() && pool.slices.front()->generation > slice->generation) continue;
    if (!pool.slices.empty() && pool.slices.front()->generation < slice->generation)
      pool.slices.clear();
    pool.slices.push_back(slice);
  }
  std::vector<DevicePool> out;
  for (auto& [key, pool] : pools) {
    pool.trouble = troubleOf(pool);
    out.push_back(std::move(pool));
  }
  return out;
}

Result<std::vector<AllocatedClaim>> allocateClaims(
    const ClaimsQuestion& question, const std::vector<const api::ResourceClaim*>& claims) {
  return ClaimSearch(question, claims).run();
}

Result<> checkClaim(const api::ResourceClaim& claim, const ObjectMap<api::DeviceClass>& classes) {
  for (const api::DeviceRequest& request : claim.requests) {
    if (!request.unserved.empty())
      return fail(mangrove::Code::kUnsupported,
                  "claim {}: request {}: {} is not served by this scheduler; want exactly, with a "
                  "class, selectors and a count or All",
                  claim.meta.name.view(), request.name, request.unserved);
    if (request.count < 1)
      return invalid("claim {}: request {}: count is {}; want 1 or more", claim.meta.name.view(),
                     request.name, request.count);
    if (auto selectors = selectorsOf(request, classes); !selectors)
      return selectors.error().in("claim {}: request {}", claim.meta.name.view(), request.name);
  }
  for (const api::DeviceConstraint& one : claim.constraints)
    if (one.matchAttribute.empty() == one.distinctAttribute.empty())
      return invalid("claim {}: a constraint wants matchAttribute or distinctAttribute",
                     claim.meta.name.view());
  return {};
}

}  // namespace mangrove::placement
