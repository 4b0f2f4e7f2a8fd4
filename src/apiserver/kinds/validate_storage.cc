// Volumes, claims and what describes storage.
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"
#include "base/number/quantity.h"

namespace mangrove::apiserver {
namespace {

// Members of a volume's spec that are no source.
constexpr std::string_view kNoSource[] = {"capacity",
                                          "accessModes",
                                          "claimRef",
                                          "persistentVolumeReclaimPolicy",
                                          "storageClassName",
                                          "mountOptions",
                                          "volumeMode",
                                          "nodeAffinity",
                                          "volumeAttributesClassName"};

json::Object sourceOf(json::Object spec) {
  for (std::string_view key : kNoSource) spec.erase(key);
  return spec;
}

std::optional<Quantity> storageOf(const json::Object& resources) {
  auto amount = Quantity::parse(textIn(objectIn(resources, "requests"), "storage"));
  return amount ? std::optional(*amount) : std::nullopt;
}

void checkModes(const Inspect& spec) {
  if (!spec.wantsSome("accessModes", "at least 1 access mode is required")) return;
  const json::Array& modes = spec.array("accessModes");
  for (const json::Value& mode : modes)
    if (mode == json::Value("ReadWriteOncePod") && modes.size() > 1)
      return spec.forbidden("accessModes", "may not use ReadWriteOncePod with other access modes");
}

}  // namespace

void checkClaimSpec(const Inspect& spec) {
  checkModes(spec);
  Inspect selector = spec.child("selector");
  checkSelector(selector);
  Inspect resources = spec.child("resources");
  Inspect requests = resources.child("requests");
  auto size = storageOf(resources.object());
  if (!requests.has("storage"))
    spec.errors().required(resources.at().key("storage"));
  else if (size && size->sign() <= 0)
    spec.errors().invalid(resources.at().key("storage"), requests.value("storage"),
                          "must be greater than zero");
  if (!spec.text("storageClassName").empty())
    spec.check("storageClassName", subdomainTrouble(spec.text("storageClassName")));
}

void validateClaim(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkClaimSpec(spec);
}

// A claim is a contract: afterwards it can only grow, and be told its volume once.
void validateClaimUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  json::Object allowed = objectIn(old, "spec");
  auto before = storageOf(objectIn(allowed, "resources"));
  auto after = storageOf(spec.map("resources"));
  for (std::string_view key : {"resources", "volumeAttributesClassName"})
    if (spec.has(key)) allowed[key] = spec.value(key);
  if (textIn(allowed, "volumeName").empty() && spec.has("volumeName"))
    allowed["volumeName"] = spec.value("volumeName");
  if (!allowed.contains("storageClassName") && spec.has("storageClassName"))
    allowed["storageClassName"] = spec.value("storageClassName");
  if (!json::equal(allowed, spec.object()))
    errors.forbidden(spec.at(),
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  if (!before || !after) return;
  Inspect resources = spec.child("resources");
  FieldPath requests = resources.at().child("requests");
  if (*after < *before)
    errors.forbidden(requests.child("storage"), "field can not be less than previous value");
  else if (*after > *before && textIn(objectIn(old, "status"), "phase") != "Bound")
    errors.forbidden(spec.at(),
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
}

void validateVolume(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkModes(spec);
  if (spec.wantsSome("capacity")) {
    if (!spec.map("capacity").contains("storage")) spec.notSupported("capacity", {"storage"});
    checkResourceAmounts(spec, "capacity");
  }
  size_t sources = sourceOf(spec.object()).size();
  if (sources == 0) errors.required(spec.at(), "must specify a volume type");
  if (sources > 1) errors.forbidden(spec.at(), "may not specify more than 1 volume type");
  if (spec.has("local") && !spec.has("nodeAffinity"))
    spec.required("nodeAffinity", "Local volume requires node affinity");
}

void validateVolumeUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  if (!json::equal(sourceOf(spec.object()), sourceOf(before)))
    errors.forbidden(spec.at().child("persistentvolumesource"),
                     "spec.persistentvolumesource is immutable after creation");
  spec.immutable("volumeMode", before);
  if (before.contains("nodeAffinity")) spec.immutable("nodeAffinity", before);
}

void validateStorageClass(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  if (root.wants("provisioner"))
    root.check("provisioner", qualifiedTrouble(root.text("provisioner")));
}

void validateStorageClassUpdate(const json::Object& now, const json::Object& old,
                                FieldErrors& errors) {
  Inspect root(now, errors);
  if (!sameMember(now, old, "parameters"))
    root.forbidden("parameters", "updates to parameters are forbidden.");
  if (!sameMember(now, old, "provisioner"))
    root.forbidden("provisioner", "updates to provisioner are forbidden.");
  if (!sameMember(now, old, "reclaimPolicy"))
    root.forbidden("reclaimPolicy", "updates to reclaimPolicy are forbidden.");
  root.immutable("volumeBindingMode", old);
}

void validateCsiNode(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  std::set<std::string_view> names;
  spec.each("drivers", [&](const Inspect& driver) {
    if (driver.wants("name") && !names.insert(driver.text("name")).second) driver.duplicate("name");
    driver.wants("nodeID");
  });
}

void validateCsiDriver(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.oneOf("fsGroupPolicy", {"File", "None", "ReadWriteOnceWithFSType"});
  spec.eachValue("volumeLifecycleModes", [&](const json::Value& mode, const FieldPath& at) {
    if (mode != json::Value("Persistent") && mode != json::Value("Ephemeral"))
      errors.notSupported(at, mode, {"Ephemeral", "Persistent"});
  });
}

void validateCsiDriverUpdate(const json::Object& now, const json::Object& old,
                             FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  for (std::string_view key : {"attachRequired", "volumeLifecycleModes"})
    spec.immutable(key, objectIn(old, "spec"));
}

// A driver may come and go, but not change while it is there.
void validateCsiNodeUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  spec.each("drivers", [&](const Inspect& driver) {
    for (const json::Value& one : arrayIn(objectIn(old, "spec"), "drivers")) {
      if (!one.is_object() || textIn(one.get_object(), "name") != driver.text("name")) continue;
      for (std::string_view key : {"nodeID", "topologyKeys"})
        driver.immutable(key, one.get_object());
    }
  });
}

void validateVolumeAttachment(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.wants("attacher");
  spec.wants("nodeName");
  Inspect source = spec.child("source");
  if (source.has("inlineVolumeSpec") == !source.text("persistentVolumeName").empty())
    errors.required(source.at(),
                    "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
}

void validateVolumeAttachmentUpdate(const json::Object& now, const json::Object& old,
                                    FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("spec", old);
}

void validateCsiStorageCapacity(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  root.wants("storageClassName");
}

void validateCsiStorageCapacityUpdate(const json::Object& now, const json::Object& old,
                                      FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("nodeTopology", old);
  root.immutable("storageClassName", old);
}

}  // namespace mangrove::apiserver
