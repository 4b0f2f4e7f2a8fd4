#pragma once
// Every admission handler of the manager in one list: its path, the objects it judges, its gate,
// what an API server does when it gets no answer. The manifests of config/webhook, the HTTPS server
// and in-process admission all follow this list.
//
//   for (const Route& route : inProcessHandlers()) …
//   const Route* route = routeOf("/mutate-pod");
//
// Constants; any thread.

#include <span>
#include <string_view>

#include "manager/webhook/admission.h"
#include "manager/webhook/gates.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Where a handler runs: most are functions of the picture alone; some ask caches or the server.
enum class RunsOn { kAnyThread, kOwner };

struct Route {
  std::string_view path;
  std::string_view plugin;  // in metrics
  bool mutating = false;
  std::string_view group, resource, subresource;
  bool create = false, update = false, remove = false;
  bool WebhookGates::*gate = nullptr;
  Handler handler = nullptr;
  RunsOn runsOn = RunsOn::kAnyThread;
  // Namespaces labelled control-plane are left alone, so that what the cluster needs to live starts
  // without us.
  bool sparesControlPlane = false;
  // Without an answer nothing happens (failurePolicy Fail); otherwise it happens without us.
  bool mustAnswer = false;

  bool wants(const AdmissionRequest& request) const;
};

std::span<const Route> allRoutes();
inline std::span<const Route> inProcessHandlers() {
  return allRoutes();
}

// Several resources may share a path: then the first is returned; the handler is the same.
const Route* routeOf(std::string_view path);
inline bool isActive(const Route& route, const WebhookGates& gates) {
  return gates.*route.gate;
}
bool isSpared(const Route& route, std::string_view ns, const Surroundings& around);

inline constexpr std::string_view kControlPlaneLabel = "control-plane";

}  // namespace mangrove::manager
