#include "apiserver/admission/builtin_priority.h"

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/schema/defaulting.h"
#include "base/check.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kGroup = "scheduling.k8s.io";
constexpr size_t kMostKnown = 1000;

struct SystemClass {
  std::string_view name;
  int64_t value;
  std::string_view description;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-cluster-critical", 2'000'000'000, "For pods the cluster needs, wherever they run."},
    {"system-node-critical", 2'000'001'000, "For pods their node needs; nothing ranks higher."},
};

Interned stored() {
  static const Interned kName = Resources::storedName(kGroup, "priorityclasses");
  return kName;
}

std::optional<json::Object> rootOf(const store::Object& object) {
  auto value = json::parse(*object.json());
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

int64_t valueOf(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_int64() ? value->get_int64() : 0;
}

bool isDefault(const json::Object& object) {
  const json::Value* flag = object.if_contains("globalDefault");
  return flag && flag->is_bool() && flag->get_bool();
}

// What the server computed once stays when an update leaves it out.
void keepPriority(json::Object& pod, const json::Object& old) {
  const json::Object* before = findObject(old, "spec");
  if (!before) return;
  json::Object& spec = objectAt(pod, "spec");
  for (std::string_view key : {"priority", "preemptionPolicy"})
    if (!spec.contains(key)) copyMember(spec, *before, key);
}

std::string disagrees(std::string_view what, std::string_view given, std::string_view computed) {
  return fmt::format(
      "the {} ({}) must not be provided in pod spec; priority admission controller computed {} "
      "from the given PriorityClass name",
      what, given, computed);
}

}  // namespace

const PriorityAdmission::Known& PriorityAdmission::read(const store::Object& object) const {
  if (known_.size() > kMostKnown) known_.clear();  // names that came and went
  Known& known = known_[std::string(object.name())];
  if (known.revision == object.revision()) return known;
  known = {object.revision(), {std::string(object.name())}, false};
  if (auto root = rootOf(object)) {
    known.isDefault = isDefault(*root);
    known.itself.value = valueOf(*root, "value");
    if (auto policy = textAt(*root, "preemptionPolicy"); !policy.empty())
      known.itself.policy = policy;
  }
  return known;
}

std::optional<PriorityAdmission::Class> PriorityAdmission::find(std::string_view name) const {
  if (auto object = store_.getHead(stored(), "", name)) return read(*object).itself;
  for (const SystemClass& system : kSystemClasses)
    if (system.name == name) return Class{std::string(name), system.value};
  return std::nullopt;
}

PriorityAdmission::Class PriorityAdmission::usual() const {
  auto page = store_.list({.resource = stored()});
  std::optional<Class> lowest;
  if (!page) return {};
  for (const auto& object : page->items) {
    const Known& known = read(*object);
    if (known.isDefault && (!lowest || known.itself.value < lowest->value)) lowest = known.itself;
  }
  return lowest.value_or(Class{});
}

void PriorityAdmission::mutate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isPod = kind.group.empty() && kind.plural == "pods";
  if (!isPod || !request.subresource.empty() || !request.object.is_object())
    return done(std::nullopt);
  if (request.operation == Operation::kCreate) return done(admitPod(request));
  if (request.operation == Operation::kUpdate && request.oldObject.is_object())
    keepPriority(request.object.get_object(), request.oldObject.get_object());
  done(std::nullopt);
}

std::optional<Answer> PriorityAdmission::admitPod(AdmissionRequest& request) const {
  json::Object& spec = objectAt(request.object.get_object(), "spec");
  const std::string wanted(textAt(spec, "priorityClassName"));
  const auto found = wanted.empty() ? std::optional<Class>(usual()) : find(wanted);
  if (!found)
    return admissionForbids(request,
                            fmt::format("no PriorityClass with name {} was found", wanted));
  const json::Value* given = spec.if_contains("priority");
  if (given && given->is_int64() && given->get_int64() != found->value)
    return admissionForbids(
        request, disagrees("integer value of priority", std::to_string(given->get_int64()),
                           std::to_string(found->value)));
  const std::string policy(textAt(spec, "preemptionPolicy"));
  if (!policy.empty() && policy != found->policy)
    return admissionForbids(request,
                            disagrees("string value of PreemptionPolicy", policy, found->policy));
  if (!found->name.empty()) spec["priorityClassName"] = found->name;
  spec["priority"] = found->value;
  spec["preemptionPolicy"] = found->policy;
  return std::nullopt;
}

void PriorityAdmission::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isClass = kind.group == kGroup && kind.plural == "priorityclasses";
  done(isClass && request.object.is_object() ? judgeClass(request) : std::nullopt);
}

std::optional<Answer> PriorityAdmission::judgeClass(const AdmissionRequest& request) const {
  if (!isDefault(request.object.get_object())) return std::nullopt;
  const Class current = usual();
  if (current.name.empty() || current.name == request.name) return std::nullopt;
  return admissionForbids(request,
                          fmt::format("PriorityClass {} is already marked as default. Only one "
                                      "default can exist",
                                      current.name));
}

void ensurePriorityClasses(Context& context) {
  auto resource = context.resources.find(kGroup, "v1", "priorityclasses");
  CHECK(resource, "the tables lack priorityclasses");
  for (const SystemClass& system : kSystemClasses) {
    if (context.store.getHead(stored(), "", system.name)) continue;
    json::Value object = json::Object{{"apiVersion", "scheduling.k8s.io/v1"},
                                      {"kind", "PriorityClass"},
                                      {"metadata", json::Object{{"name", system.name}}},
                                      {"value", system.value},
                                      {"description", system.description}};
    applyDefaults(*resource->kind, object);
    stampCreate(*resource->kind, object.get_object(), context.clock.wall(), context.rng);
    putObject(context, resource, std::move(object), nullptr, [](const auto&) {});
  }
}

}  // namespace mangrove::apiserver
