#pragma once
// Every kind the server has built in, read once from the text tables in this folder (kinds/*.txt):
// names, scope, verbs, subresources, selectable fields, schema and the rules written in C++.
// Custom kinds get a KindInfo of the same shape from crd_schema.h, so that the request path knows
// no difference.
//
//   const KindInfo* pods = catalogue().findPlural("", "v1", "pods");
//   for (const auto& kind : catalogue().kinds()) route(*kind);
//
// Immutable after the first call, which takes a few milliseconds; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema/field_error.h"
#include "apiserver/schema/schema.h"
#include "json/view.h"

namespace mangrove::apiserver {

// How metadata.name must look.
enum class NameRule : uint8_t {
  kSubdomain,    // DNS-1123 subdomain, up to 253: the usual one
  kLabel,        // DNS-1123 label, up to 63: namespaces
  kLabel1035,    // DNS-1035 label, starts with a letter: services
  kPathSegment,  // anything that can stand in a path: RBAC, leases' relatives
};

struct Subresource {
  std::string_view name;                // "status", "scale", "binding", …
  std::vector<std::string_view> verbs;  // "get", "patch", "update", "create"
  // What is sent and answered when it is not the parent itself: autoscaling/v1 Scale, …
  std::string_view group, version, kind;
};

struct KindInfo;
// What the tables cannot say. A nullptr means: nothing to do. All are pure; objects given to them
// have passed decode() (types are right, nulls are gone), but may lack any field.
struct KindRules {
  // Computed defaults, before the static ones of the table. On every write; harmless when repeated.
  void (*defaults)(json::Object& object) = nullptr;
  // What a new object starts with whatever its author wrote: first status, finalizers, generated
  // selectors. Once, after name and uid are known.
  void (*onCreate)(json::Object& object) = nullptr;
  void (*validate)(const json::Object& object, FieldErrors& errors) = nullptr;
  // Besides validate(now): what may not change.
  void (*validateUpdate)(const json::Object& now, const json::Object& old,
                         FieldErrors& errors) = nullptr;
  // Writes through /status.
  void (*validateStatus)(const json::Object& now, const json::Object& old,
                         FieldErrors& errors) = nullptr;
  // A status sent with a create is kept (nodes bring theirs); otherwise onCreate() drops it.
  bool keepsStatus = false;
  // Carries over what an update may leave out because the server gave it (a service's addresses).
  // Before defaults() and validateUpdate().
  void (*onUpdate)(json::Object& now, const json::Object& old) = nullptr;
};

struct KindInfo {
  std::string_view group, version, kind;  // group "" is core
  std::string_view plural, singular, listKind;
  std::vector<std::string_view> shortNames, categories;
  bool namespaced = true;
  bool isCustom = false;
  // False for a version that is converted to another one for storing (conversion.h); the two names
  // then say which.
  bool storage = true;
  std::string_view storedGroup, storedVersion;
  std::vector<std::string_view> verbs;
  std::vector<Subresource> subresources;
  // Fields a fieldSelector may name; metadata.name and metadata.namespace always are.
  std::vector<std::string_view> selectable;
  NameRule nameRule = NameRule::kSubdomain;
  SchemaRef schema;
  // Custom kinds whose schema has defaults: objects stored before it had them get them when read.
  bool defaultsOnRead = false;
  KindRules rules;
  // Custom kinds: where scale finds its numbers (".spec.replicas"), columns for tables, warnings
  // that a create of the definition must answer with.
  std::string_view specReplicasPath, statusReplicasPath, labelSelectorPath;
  const json::Value* printerColumns = nullptr;  // the CRD version's additionalPrinterColumns

  std::string apiVersion() const;        // "v1", "apps/v1"
  std::string storedApiVersion() const;  // the same unless !storage
  std::string groupResource() const;     // "pods", "deployments.apps"
  std::string groupKind() const;         // "Pod", "Deployment.apps"
  bool can(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;
  bool hasStatus() const { return subresource("status") != nullptr; }
};

class Catalogue {
 public:
  using Kinds = std::vector<std::shared_ptr<const KindInfo>>;
  using Types = std::vector<std::pair<std::string_view, const Schema*>>;

  Catalogue(Kinds kinds, std::shared_ptr<SchemaSet> set, Types types);
  const Kinds& kinds() const { return kinds_; }
  // nullptr when there is none.
  const KindInfo* find(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  const KindInfo* findPlural(std::string_view group, std::string_view version,
                             std::string_view plural) const;
  // A type of the tables that is no kind of its own: "io.k8s.api.core.v1.PodTemplateSpec",
  // "…meta.v1.DeleteOptions". nullptr when there is none.
  const Schema* type(std::string_view name) const;
  const Types& types() const { return types_; }
  SchemaRef ref(const Schema* node) const { return set_->ref(node); }

 private:
  Kinds kinds_;
  std::shared_ptr<SchemaSet> set_;
  Types types_;  // sorted by name
};

const Catalogue& catalogue();

// The values of a kind's selectable fields in the order of KindInfo::selectable, for indexes and
// selectors. Absent is "", numbers and booleans are text.
std::vector<std::string> extractFields(const KindInfo& kind, json::View object);
// One of them, or metadata.name and metadata.namespace.
std::string extractField(const KindInfo& kind, std::string_view name, json::View object);

}  // namespace mangrove::apiserver
