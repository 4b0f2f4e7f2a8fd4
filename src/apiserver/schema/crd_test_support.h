#pragma once
// For tests of custom resource definitions: a small good one to change.

#include <string>

#include "apiserver/kinds/test_objects.h"
#include "apiserver/schema/crd_kinds.h"
#include "apiserver/schema/crd_validation.h"

namespace mangrove::apiserver::fixture {

// The schema is the flow mapping of spec.versions[0].schema.openAPIV3Schema.
inline std::string crdWith(std::string_view schema) {
  return std::string(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wi], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema: )") +
         std::string(schema) + "\n";
}

inline std::shared_ptr<const KindInfo> kindFrom(std::string_view crd) {
  json::Value object = completed(crd);
  auto kinds = customKinds(object.as_object());
  EXPECT_TRUE(kinds.has_value()) << (kinds ? "" : kinds.error().text());
  return kinds ? kinds->kinds.front() : nullptr;
}

}  // namespace mangrove::apiserver::fixture
