#include "apiserver/admission/builtin_limits.h"

#include <fmt/core.h>

#include "api/pod/pod.h"
#include "api/pod/pod_requests.h"
#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kNote = "kubernetes.io/limit-ranger";

const json::Object& emptyObject() {
  static const json::Object kEmpty;
  return kEmpty;
}
const json::Object& objectIn(const json::Object& parent, std::string_view key) {
  const json::Object* found = findObject(parent, key);
  return found ? *found : emptyObject();
}

std::optional<Quantity> amountIn(const json::Object& list, std::string_view key) {
  const json::Value* value = list.if_contains(key);
  if (!value || !value->is_string()) return std::nullopt;
  auto amount = Quantity::parse(value->get_string());
  return amount ? std::optional(*amount) : std::nullopt;
}

template <class Use>
void eachLimit(const json::Object& range, std::string_view type, Use use) {
  const json::Array* limits = findArray(objectIn(range, "spec"), "limits");
  if (!limits) return;
  for (const json::Value& limit : *limits)
    if (limit.is_object() && textAt(limit.get_object(), "type") == type) use(limit.get_object());
}

template <class Use>
void eachContainer(json::Object& pod, Use use) {
  json::Object& spec = objectAt(pod, "spec");
  for (std::string_view list : {"initContainers", "containers"}) {
    json::Value* containers = spec.if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (json::Value& one : containers->get_array())
      if (one.is_object()) use(one.get_object(), list == "initContainers");
  }
}

// Fills one of requests and limits; returns "cpu, memory request for container c".
std::string fill(const json::Object& defaults, json::Object& container, std::string_view part,
                 std::string_view what) {
  std::string set;
  for (const auto& [resource, amount] : defaults) {
    const json::Object& known = objectIn(objectIn(container, "resources"), part);
    if (known.contains(resource)) continue;
    objectAt(objectAt(container, "resources"), part)[resource] = amount;
    set += (set.empty() ? "" : ", ") + std::string(resource);
  }
  if (set.empty()) return set;
  return fmt::format("{} {} for container {}", set, what, textAt(container, "name"));
}

// One bound on one thing that has requests and limits.
struct Bounds {
  std::string_view type;
  const json::Object& limit;  // an entry of spec.limits

  void check(const json::Object& requests, const json::Object& limits,
             std::vector<std::string>& out) const {
    for (const auto& entry : objectIn(limit, "min")) checkMin(entry.key(), requests, limits, out);
    for (const auto& entry : objectIn(limit, "max")) checkMax(entry.key(), requests, limits, out);
    for (const auto& entry : objectIn(limit, "maxLimitRequestRatio"))
      checkRatio(entry.key(), requests, limits, out);
  }

 private:
  void checkMin(std::string_view resource, const json::Object& requests, const json::Object& limits,
                std::vector<std::string>& out) const {
    const auto least = amountIn(objectIn(limit, "min"), resource);
    if (!least) return;
    const auto request = amountIn(requests, resource), most = amountIn(limits, resource);
    const std::string start =
        fmt::format("minimum {} usage per {} is {}", resource, type, least->text());
    if (!request) out.push_back(start + ".  No request is specified");
    if (request && *request < *least)
      out.push_back(start + fmt::format(", but request is {}", request->text()));
    if (most && *most < *least)
      out.push_back(start + fmt::format(", but limit is {}", most->text()));
  }

  void checkMax(std::string_view resource, const json::Object& requests, const json::Object& limits,
                std::vector<std::string>& out) const {
    const auto bound = amountIn(objectIn(limit, "max"), resource);
    if (!bound) return;
    const auto request = amountIn(requests, resource), most = amountIn(limits, resource);
    const std::string start =
        fmt::format("maximum {} usage per {} is {}", resource, type, bound->text());
    if (!most) out.push_back(start + ".  No limit is specified");
    if (most && *most > *bound)
      out.push_back(start + fmt::format(", but limit is {}", most->text()));
    if (request && *request > *bound)
      out.push_back(start + fmt::format(", but request is {}", request->text()));
  }

  void checkRatio(std::string_view resource, const json::Object& requests,
                  const json::Object& limits, std::vector<std::string>& out) const {
    const auto bound = amountIn(objectIn(limit, "maxLimitRequestRatio"), resource);
    if (!bound) return;
    const auto request = amountIn(requests, resource), most = amountIn(limits, resource);
    const std::string start =
        fmt::format("{} max limit to request ratio per {} is {}", resource, type, bound->text());
    if (!request || request->isZero() || !most || most->isZero())
      return out.push_back(start + ", but no request is specified or request is 0");
    const double ratio = most->approximate() / request->approximate();
    if (ratio > bound->approximate())
      out.push_back(start + fmt::format(", but provided ratio is {:f}", ratio));
  }
};

json::Object amountsOf(const api::ResourceList& list) {
  json::Object out;
  for (const auto& entry : list) out[entry.name.view()] = entry.amount.text();
  return out;
}

bool isKind(const KindInfo& kind, std::string_view plural) {
  return kind.group.empty() && kind.plural == plural;
}

}  // namespace

void applyLimitDefaults(const json::Object& range, json::Object& pod) {
  std::vector<std::string> set;
  eachLimit(range, "Container", [&](const json::Object& limit) {
    eachContainer(pod, [&](json::Object& container, bool) {
      for (auto [from, part, what] : {std::tuple("defaultRequest", "requests", "request"),
                                      std::tuple("default", "limits", "limit")}) {
        if (auto text = fill(objectIn(limit, from), container, part, what); !text.empty())
          set.push_back(std::move(text));
      }
    });
  });
  if (set.empty()) return;
  std::string note = "LimitRanger plugin set: ";
  for (size_t i = 0; i < set.size(); ++i) note += (i ? "; " : "") + set[i];
  objectAt(metadataOf(pod), "annotations")[kNote] = note;
}

std::vector<std::string> limitViolations(const json::Object& range, const json::Object& pod) {
  std::vector<std::string> out;
  json::Object copy = pod;
  eachLimit(range, "Container", [&](const json::Object& limit) {
    eachContainer(copy, [&](json::Object& container, bool) {
      const json::Object& resources = objectIn(container, "resources");
      Bounds{"Container", limit}.check(objectIn(resources, "requests"),
                                       objectIn(resources, "limits"), out);
    });
  });
  eachLimit(range, "Pod", [&](const json::Object& limit) {
    auto decoded = api::decodeText<api::Pod>(json::write(pod));
    if (!decoded) return;
    Bounds{"Pod", limit}.check(amountsOf(api::podRequests(*decoded->spec)),
                               amountsOf(api::podLimits(*decoded->spec)), out);
  });
  return out;
}

std::vector<std::string> claimViolations(const json::Object& range, const json::Object& claim) {
  std::vector<std::string> out;
  eachLimit(range, "PersistentVolumeClaim", [&](const json::Object& limit) {
    const json::Object& requests =
        objectIn(objectIn(objectIn(claim, "spec"), "resources"), "requests");
    json::Object least = limit;
    least.erase("maxLimitRequestRatio");
    Bounds{"PersistentVolumeClaim", least}.check(requests, requests, out);
  });
  return out;
}

std::vector<json::Value> LimitAdmission::rangesOf(std::string_view ns) const {
  static const Interned kRanges = Resources::storedName("", "limitranges");
  std::vector<json::Value> ranges;
  if (store_.count(kRanges) == 0) return ranges;
  auto page = store_.list({.resource = kRanges, .ns = std::string(ns)});
  if (!page) return ranges;
  for (const auto& object : page->items)
    if (auto value = json::parse(*object->json()); value && value->is_object())
      ranges.push_back(std::move(*value));
  return ranges;
}

void LimitAdmission::mutate(AdmissionRequest& request, Done done) {
  const bool isNewPod = isKind(*request.resource->kind, "pods") && request.subresource.empty() &&
                        request.operation == Operation::kCreate && request.object.is_object();
  if (isNewPod) {
    for (const json::Value& range : rangesOf(request.ns))
      applyLimitDefaults(range.get_object(), request.object.get_object());
  }
  done(std::nullopt);
}

void LimitAdmission::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isPod = isKind(kind, "pods"), isClaim = isKind(kind, "persistentvolumeclaims");
  const bool isNew = request.operation == Operation::kCreate && request.subresource.empty();
  if (!(isPod || isClaim) || !isNew || !request.object.is_object()) return done(std::nullopt);
  std::vector<std::string> all;
  for (const json::Value& range : rangesOf(request.ns)) {
    const json::Object& object = request.object.get_object();
    for (auto& one : isPod ? limitViolations(range.get_object(), object)
                           : claimViolations(range.get_object(), object))
      all.push_back(std::move(one));
  }
  if (all.empty()) return done(std::nullopt);
  std::string text = all.size() == 1 ? all[0] : "[";
  for (size_t i = 0; all.size() > 1 && i < all.size(); ++i) text += (i ? ", " : "") + all[i];
  if (all.size() > 1) text += "]";
  done(admissionForbids(request, text));
}

}  // namespace mangrove::apiserver
