#pragma once
// How a strategic merge patch treats each field of a kind: which lists are merged and by which key,
// which objects are taken whole. Facts of the Kubernetes API, kept as tables in
// merge_schema_tables.cc; a kind is added there.
//
//   const MergeSchema* pod = mergeSchemaOf("", "Pod");
//   pod->find("spec")->inside->find("containers")->mergeKey   // "name"
//
// Only fields with a rule, or with a rule somewhere below, are listed. Every other object is merged
// member by member and every other list is replaced. Tables are constant data: any thread may read
// them.

#include <span>
#include <string_view>

namespace mangrove::json {

enum class Strategy {
  kUsual,    // objects are merged, lists replaced
  kMerge,    // a list is merged: objects by merge key, scalars as a set
  kReplace,  // an object is replaced whole
};

struct MergeSchema;

struct MergeField {
  std::string_view name;
  Strategy strategy = Strategy::kUsual;
  std::string_view mergeKey = {};       // of a merged list of objects
  const MergeSchema* inside = nullptr;  // of the object, or of the elements of the list
  bool retainKeys = false;  // a patch lists the members to keep: a union of which one member is set
};

struct MergeSchema {
  std::string_view name;
  std::span<const MergeField> fields;

  const MergeField* find(std::string_view field) const;
};

// By API group ("" is the core group) and kind; nullptr for kinds we have no rules for, custom
// resources above all: an API server refuses strategic patches of those.
const MergeSchema* mergeSchemaOf(std::string_view group, std::string_view kind);

// Rules of metadata only: enough for every kind without merged lists of its own.
const MergeSchema& plainObjectSchema();

}  // namespace mangrove::json
