// Probes and lifecycle hooks: exactly one handler, sensible numbers.
#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

void checkPortOrName(const Inspect& action) {
  const json::Value* port = action.find("port");
  if (port == nullptr) return action.required("port");
  if (port->is_string())
    action.check("port", portNameTrouble(port->get_string()));
  else
    checkPort(action, "port");
}

size_t checkHandlers(const Inspect& owner) {
  size_t count = 0;
  for (std::string_view key : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"})
    count += owner.has(key) ? 1 : 0;
  Inspect exec = owner.child("exec"), http = owner.child("httpGet");
  Inspect tcp = owner.child("tcpSocket"), grpc = owner.child("grpc");
  if (owner.has("exec")) exec.wantsSome("command");
  if (owner.has("httpGet")) checkPortOrName(http);
  if (owner.has("tcpSocket")) checkPortOrName(tcp);
  if (owner.has("grpc")) checkPort(grpc, "port");
  if (count == 0) owner.errors().required(owner.at(), "must specify a handler type");
  if (count > 1) owner.errors().forbidden(owner.at(), "may not specify more than 1 handler type");
  return count;
}

void checkProbe(const Inspect& container, std::string_view key) {
  if (!container.has(key)) return;
  Inspect probe = container.child(key);
  checkHandlers(probe);
  for (std::string_view number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                  "successThreshold", "failureThreshold"})
    probe.notNegative(number);
  probe.atLeast("terminationGracePeriodSeconds", 1);
  auto successes = probe.integer("successThreshold");
  if (key != "readinessProbe" && successes && *successes != 1)
    probe.invalid("successThreshold", "must be 1");
}

}  // namespace

void checkProbes(const Inspect& container) {
  for (std::string_view key : {"livenessProbe", "readinessProbe", "startupProbe"})
    checkProbe(container, key);
  Inspect lifecycle = container.child("lifecycle");
  for (std::string_view key : {"postStart", "preStop"}) {
    if (!lifecycle.has(key)) continue;
    Inspect hook = lifecycle.child(key);
    checkHandlers(hook);
  }
}

}  // namespace mangrove::apiserver
