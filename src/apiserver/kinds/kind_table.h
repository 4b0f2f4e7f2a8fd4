#pragma once
// Reads the text tables of this folder into a schema set. The tables hold facts about wire formats
// and nothing else; they are meant to be edited by hand. One line, one fact:
//
//   # comment
//   group apps/v1 io.k8s.api.apps.v1            group/version and the prefix of OpenAPI names
//   kind Deployment deployments namespaced short=deploy categories=all name=label
//     select spec.nodeName status.phase         fields a fieldSelector may name
//     /status                                   subresource; verbs get,patch,update
//     /scale get,patch,update autoscaling/v1/Scale
//   enum DNSPolicy ClusterFirst Default None    the values a field of this type may have
//   openenum PodPhase Pending Running           the usual values, not enforced
//   type PodSpec atomic -- description          fields follow; atomic: apply owns it whole
//     containers []Container* ! merge=name map=name -- description
//
// A field line: name, type, then flags in any order:
//   !            explain shows it as required          =JSON       static default (no blanks)
//   merge[=key]  strategic merge, by key for objects   retainKeys  replace
//   map=a/b      list type map with these keys         set         list type set
//   atomic       maps: apply owns the map whole
//   @N           number in protobuf; @2.7 is number 7 of a message, number 2 here, that JSON does
//                not show; :orArray, :orBool or :orStrings behind it say that the value stands in a
//                message of its own (ProtoChoice in schema.h)
// Types: string int32 int64 number bool intOrString quantity time microTime duration bytes any
// object; []T, map[T] (keys are always text), the name of a type or enum of the same group, of
// meta, or of v1, in this order; T|bool. Behind the type, * says that zero and empty are values of
// their own and stay, otherwise they equal absent; & says the same and that the field is always
// written, as zero, "" or {} when nobody set it.
//
// kind flags: verbs=a,b lists all verbs, verbs=-a,-b the usual ones but those; storage=<where>
// marks a version that is converted to another one for storing.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "base/result.h"

namespace mangrove::apiserver {

struct TableFile {
  std::string_view name;  // for messages
  std::string_view text;  // must live as long as the set: nodes point into it
};

struct NamedType {
  std::string_view name;  // OpenAPI name
  const Schema* schema;
};

struct KindTables {
  std::shared_ptr<SchemaSet> set;
  std::vector<std::shared_ptr<KindInfo>> kinds;  // in the order of the tables, rules still empty
  std::vector<NamedType> types;
};

// Errors name file and line.
Result<KindTables> readKindTables(std::span<const TableFile> files);

}  // namespace mangrove::apiserver
