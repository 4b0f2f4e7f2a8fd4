#pragma once
// The rules that make a schema structural, node by node; crd_schema.cc walks and calls these.
// Complaints go to the inspected node's errors. Pure; any thread.

#include "apiserver/kinds/inspect.h"

namespace mangrove::apiserver {

void checkRoot(const Inspect& root);
void checkStructure(const Inspect& node);  // the plain part
void checkLogic(const Inspect& node);      // inside allOf, anyOf, oneOf, not

}  // namespace mangrove::apiserver
