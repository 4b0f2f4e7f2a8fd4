#pragma once
// Strategic merge patch, as API servers and kubectl understand it: like a merge patch, but lists of
// objects are merged by a key, lists of scalars as sets, and directives say the rest.
//
//   const MergeSchema* schema = mergeSchemaOf("", "Pod");
//   auto done = applyStrategicPatch(pod, patch, *schema);
//        // "/spec/containers: element 1 has no merge key 'name'"
//   auto patch = strategicDiff(before, after, *schema);
//
// Directives in a patch:
//   "$patch": "replace" | "delete"        in an object: replace or empty it; in an element of a
//                                         merged list: replace the list by the other elements, or
//                                         delete the element with that key
//   "$deleteFromPrimitiveList/f": […]     take these scalars out of the list f
//   "$setElementOrder/f": […]             order of list f; what only the server has keeps its
//                                         place among them
//   "$retainKeys": […]                    drop every other member of this object
//   null                                  removes the member
// ("$patch": "merge" is known but refused, as by an API server.)
//
// Pure functions on values; on failure the document is as before. Nulls and directives never reach
// the document: where an API server would drop them when decoding into its types, we drop them
// while merging. Unknown fields are merged like a merge patch does.

#include "json/merge_schema.h"
#include "json/value.h"

namespace mangrove::json {

Result<void> applyStrategicPatch(Value& document, const Value& patch, const MergeSchema& schema);

// A patch that turns one document into the other; {} when nothing changed. Lists with repeated keys
// (ports of the same number and different protocol) are replaced, because merging by key cannot
// tell their elements apart.
Result<Value> strategicDiff(const Value& from, const Value& to, const MergeSchema& schema);

}  // namespace mangrove::json
