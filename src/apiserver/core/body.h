#pragma once
// What a client sends: JSON, YAML or Kubernetes' protobuf, read into a value, checked against the
// kind it is meant for. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/core/call.h"
#include "apiserver/core/resources.h"
#include "apiserver/protobuf/envelope.h"
#include "json/arena.h"

namespace mangrove::apiserver {

// The body as a value. 415 for types we do not read, 400 for what does not parse. Protobuf names
// its own type; `assumed` is what an envelope without names holds.
Outcome<json::Value> readBody(const Call& call, protobuf::TypeName assumed = {});

// An object of this kind, in the form in which it is stored: types checked, unknown fields gone.
// fieldValidation decides whether unknown and doubled fields are an error (Strict), a warning
// (Warn, the default) or nothing (Ignore). apiVersion and kind may be missing, but not be those of
// something else.
// A JSON body is read into `storage`.
Outcome<json::Value> readObject(const Call& call, const Resource& resource,
                                std::vector<std::string>& warnings, json::Storage storage = {});
// The same for a value that is there already (the result of a patch); `applies`: refused in the words
// of an apply.
Outcome<> normalise(const RequestInfo& info, const Resource& resource, json::Value& object,
                    std::vector<std::string>& warnings,
                    const std::vector<std::string>& duplicates = {}, bool applies = false);

// "dryRun=All" is the only value there is.
Outcome<bool> dryRunParameter(const RequestInfo& info);
// The fieldManager parameter, else the user agent up to its first '/'.
std::string managerOf(const Call& call);

}  // namespace mangrove::apiserver
