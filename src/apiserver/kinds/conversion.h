#pragma once
// Kinds that are served in two places are stored in one form: events.k8s.io Events as core Events,
// autoscaling/v1 autoscalers as v2, and every version of a custom kind as its stored version (whose
// fields are the same, only apiVersion differs).
//
//   if (!kind.storage) toStored(kind, object);      // before writing
//   if (!kind.storage) fromStored(kind, object);    // before answering
//
// Nothing is lost on the way there and back. Pure; any thread.

#include <string_view>

#include "apiserver/kinds/catalogue.h"
#include "json/value.h"

namespace mangrove::apiserver {

// apiVersion follows: it is KindInfo::storedApiVersion() afterwards, kind.apiVersion() before.
void toStored(const KindInfo& kind, json::Object& object);
// Custom kinds also get the defaults that their definition got after the object was stored.
void fromStored(const KindInfo& kind, json::Value& object);
// What a selectable field of this kind is called in the stored form.
std::string_view storedField(const KindInfo& kind, std::string_view name);

}  // namespace mangrove::apiserver
