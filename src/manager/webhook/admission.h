#pragma once
// What every admission handler of the manager gets and gives: an AdmissionRequest in, a Review out.
// Handlers are pure functions of the request and of an immutable picture of the cluster
// (surroundings.h); the HTTPS server (server.h), the embedded API server and tests call the same
// ones.
//
//   Review review = mutatePod(request, surroundings);
//   if (!review.allowed) tell(review.code, review.message);
//
// The views in a request belong to the caller's document and live as long as it does. Values; any
// thread.

#include <string>
#include <string_view>
#include <vector>

#include "api/object/verbs.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::manager {

struct Surroundings;

using api::Operation;
using api::operationName;

struct AdmissionRequest {
  std::string uid;                       // of the question, not of the object
  std::string group, version, resource;  // "", "v1", "pods"
  std::string subresource;               // "status", "binding"; "" for the object itself
  std::string kind;                      // "Pod"
  Operation operation = Operation::kCreate;
  std::string ns;
  std::string name;  // "" for creates with generateName
  std::string user;
  json::View object;     // absent for deletes
  json::View oldObject;  // absent for creates
  bool dryRun = false;
};

// Something users should find in an Event about the object.
struct Notice {
  std::string reason;  // "QoSDialectConflict"
  std::string message;
};

struct Review {
  bool allowed = true;
  int code = 200;      // HTTP status of a refusal: 400 the request is wrong, 500 we could not judge
  std::string reason;  // one word for metrics and tests: "qos-priority-combination"
  std::string message;  // for the person who sent the object
  json::Value patch;    // RFC 6902; null: nothing to change
  std::vector<std::string> warnings;
  std::vector<Notice> notices;

  static Review refuse(int code, std::string reason, std::string message);
};

// The places of the object where a handler may decide without looking further.
inline constexpr int kBadRequest = 400;
inline constexpr int kForbidden = 403;
inline constexpr int kBrokenHandler = 500;

using Handler = Review (*)(const AdmissionRequest&, const Surroundings&);

}  // namespace mangrove::manager
