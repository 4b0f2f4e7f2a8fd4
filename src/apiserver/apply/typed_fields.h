#pragma once
// Values seen through their schema: which paths they have, which differ, how two are merged, what
// is taken out. The ground that managed fields stand on; pure.

#include <string>
#include <vector>

#include "apiserver/apply/field_set.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace mangrove::apiserver {

// Every path of the object but those the server itself owns (apiVersion, kind, names, versions,
// managedFields).
FieldSet fieldsOf(const Schema& schema, const json::Object& object);
// The same with every node on the way to them.
FieldSet withEveryNode(FieldSet set);
FieldSet nodesOf(const Schema& schema, const json::Object& object);
// What an object of this kind has before anybody set a field: the members that are always there,
// empty. A new object is compared with it.
const json::Object& zeroObject(const Schema& schema);
// Paths of `now` whose value is new or differs from `old`; what is new is named with every node in
// it.
FieldSet changedFields(const Schema& schema, const json::Object& old, const json::Object& now);
// The nodes `old` has and `now` has not.
FieldSet goneFields(const Schema& schema, const json::Object& old, const json::Object& now);
// Paths that are in both sets and whose values differ between the two objects.
FieldSet differingIn(const Schema& schema, const FieldSet& a, const FieldSet& b,
                     const json::Object& left, const json::Object& right);

// `patch` laid over `base`: members and elements with equal keys are merged, sets united,
// everything atomic replaced.
json::Value mergedValue(const Schema& schema, const json::Value& base, const json::Value& patch);
// Takes the paths of `set` out of the object. A path that has more below it than `set` names stays,
// and so does an emptied one that `kept` names.
void removeFields(const Schema& schema, const FieldSet& set, const FieldSet& kept,
                  json::Object& object);

}  // namespace mangrove::apiserver
