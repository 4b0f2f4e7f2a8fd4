#include "up/run_pod.h"

#include <algorithm>

#include "api/wire/names.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"
#include "runtime/core/containment.h"

namespace mangrove::up {

namespace {

Result<Quantity> amountOf(std::string_view flag, std::string_view text) {
  auto amount = Quantity::parse(text);
  if (!amount) return amount.error().in("--{}", flag);
  if (!(*amount > Quantity())) return invalid("--{} {}: want more than nothing", flag, text);
  return *amount;
}

Result<json::Object> resourcesOf(const RunRequest& request) {
  const bool batch = request.qos == "BE";
  json::Object amounts;
  if (!request.cpu.empty()) {
    auto cpu = amountOf("cpu", request.cpu);
    if (!cpu) return pass(cpu.error());
    if (batch) {
      amounts[api::resource::kBatchCpu] = std::to_string(cpu->milliValue());
    } else {
      amounts[api::resource::kCpu] = request.cpu;
    }
  }
  if (!request.memory.empty()) {
    auto memory = amountOf("memory", request.memory);
    if (!memory) return pass(memory.error());
    amounts[batch ? api::resource::kBatchMemory : api::resource::kMemory] = request.memory;
  }
  if (amounts.empty()) return json::Object();
  return json::Object{{"requests", amounts}, {"limits", amounts}};
}

json::Array textList(const std::vector<std::string>& texts) {
  json::Array out;
  // A dollar is doubled, because $(NAME) would be replaced.
  for (const auto& text : texts) {
    std::string plain;
    for (char c : text) plain += c == '$' ? "$$" : std::string(1, c);
    out.emplace_back(plain);
  }
  return out;
}

}  // namespace

Result<json::Object> podOf(const RunRequest& request) {
  static constexpr std::string_view kQos[] = {"LSE", "LSR", "LS", "BE"};
  if (std::find(std::begin(kQos), std::end(kQos), request.qos) == std::end(kQos))
    return invalid("--qos {}: want LSE, LSR, LS or BE", request.qos);
  if (request.command.empty()) return invalid("no command; write it behind --");
  auto resources = resourcesOf(request);
  if (!resources) return pass(resources.error());
  json::Object container{{"name", "main"},
                         {"image", "host"},
                         {"command", textList(request.command)},
                         {"resources", std::move(*resources)}};
  json::Object spec{
      {"restartPolicy", "Never"},
      {"schedulerName", "koord-scheduler"},
      {"priorityClassName", request.qos == "BE" ? "koord-batch" : "koord-prod"},
      {"hostNetwork", true},
      // The first process of a PID namespace would not hear signals that it has no handler for.
      {"hostPID", true},
      {"automountServiceAccountToken", false},
      {"securityContext", json::Object{{"runAsUser", request.uid}, {"runAsGroup", request.gid}}}};
  if (!request.directory.empty()) container["workingDir"] = request.directory;
  spec["containers"] = json::Array{std::move(container)};
  json::Object labels{{api::label::kQosClass, request.qos}, {"mangrove.io/run", request.name}};
  json::Object annotations{{runtime::kCallerAnnotation, request.environmentFile}};
  return json::Object{{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", json::Object{{"name", request.name},
                                                {"namespace", request.ns},
                                                {"labels", std::move(labels)},
                                                {"annotations", std::move(annotations)}}},
                      {"spec", std::move(spec)}};
}

}  // namespace mangrove::up
