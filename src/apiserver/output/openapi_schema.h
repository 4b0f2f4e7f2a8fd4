#pragma once
// The schema model in OpenAPI's words: one definition per named type, references between them, and
// Kubernetes' extensions (group-version-kind, list types, merge keys) that clients patch and apply
// by.
//
//   DefinitionWriter writer(OpenApi::kV3);
//   std::string name = writer.addKind(*pods);      // "io.k8s.api.core.v1.Pod", with all it uses
//   document["components"] = json::Object{{"schemas", writer.take()}};
//
// One thread at a time.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "json/value.h"

namespace mangrove::apiserver {

enum class OpenApi { kV2, kV3 };

class DefinitionWriter {
 public:
  explicit DefinitionWriter(OpenApi version) : version_(version) {}

  // The definition's name; also adds that of its list.
  std::string addKind(const KindInfo& kind);
  // A built-in type by its name, or "" when there is none.
  std::string addType(std::string_view name);
  // What a subresource sends and answers: "" when the tables do not know that kind.
  std::string addSubresource(const KindInfo& parent, const Subresource& sub);
  // {"$ref":"#/…/NAME"}
  json::Object reference(std::string_view name) const;
  // All definitions by name.
  json::Object take();

 private:
  json::Object typeOf(const Schema& schema);
  json::Object bodyOf(const Schema& schema);
  void putShape(const Schema& schema, json::Object& out);
  void putFields(const Schema& schema, json::Object& out);
  void putConstraints(const Constraints& constraints, json::Object& out);
  json::Object propertyOf(const Field& field);
  json::Object named(std::string_view name, const Schema* schema);
  json::Object scalarReference(Type type, std::string_view name);
  void addList(const KindInfo& kind, const std::string& name);
  void settle();  // writes the definitions that were only mentioned so far

  OpenApi version_;
  bool custom_ = false;  // inside a custom kind: scalars are written out, as its author did
  std::map<std::string, json::Object, std::less<>> done_;
  std::vector<std::pair<std::string, const Schema*>> pending_;
};

// [{"group":…,"kind":…,"version":…}]'s element.
json::Object groupVersionKind(std::string_view group, std::string_view version,
                              std::string_view kind);
// "io.k8s.api.apps.v1.Deployment", "com.example.stable.v1.CronTab".
std::string definitionName(const KindInfo& kind);

}  // namespace mangrove::apiserver
