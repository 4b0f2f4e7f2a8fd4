#pragma once
// Counts and times requests under the names kube-apiserver gives them, so that existing dashboards
// and alerts work.
//
//   RequestMetrics metrics(registry, clock);
//   to = metrics.measured(call.info, known, std::move(to));    // counts when it answers
//
// Labels come from the request only where it names a resource we serve: strangers cannot make the
// registry grow. Owner thread.

#include <memory>
#include <string>
#include <unordered_map>

#include "apiserver/core/call.h"
#include "apiserver/request.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace mangrove::apiserver {

class RequestMetrics {
 public:
  RequestMetrics(Registry& registry, Clock& clock);
  ~RequestMetrics();

  // `known`: the resource exists.
  ResponderPtr measured(const RequestInfo& info, bool known, ResponderPtr to);
  // For 429, given before anybody asked what the request is about: without its labels. Any thread.
  Counter turnedAway() const;

 private:
  struct Families;
  struct Route;  // the handles of one verb on one resource
  class Measured;
  class MeasuredStream;
  std::shared_ptr<Route> routeOf(const RequestInfo& info, bool known);

  Clock& clock_;
  std::shared_ptr<Families> families_;
  std::unordered_map<std::string, std::shared_ptr<Route>> routes_;
};

// "GET", "LIST", "POST": how metrics call a verb.
std::string metricVerb(const RequestInfo& info);
// "resource" for one object, "namespace" for those of a namespace, "cluster" for all.
std::string metricScope(const RequestInfo& info);

}  // namespace mangrove::apiserver
