#include "manager/webhook/pod/jvm.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "manager/webhook/draft.h"
#include "manager/webhook/pod/colocate.h"

namespace mangrove::manager {
namespace {

constexpr std::string_view kJavaOptions = "JAVA_TOOL_OPTIONS";
constexpr std::string_view kActiveProcessors = "-XX:ActiveProcessorCount=";

json::Object* variableOf(json::Object& container, std::string_view name) {
  json::Array* variables = findArray(container, "env");
  for (size_t i = 0; variables != nullptr && i < variables->size(); ++i) {
    json::Object* one = (*variables)[i].if_object();
    if (one != nullptr && textIn(*one, "name") == name) return one;
  }
  return nullptr;
}

void addVariable(json::Object& container, json::Object variable) {
  if (findArray(container, "env") == nullptr) container["env"] = json::Array();
  findArray(container, "env")->push_back(std::move(variable));
}

void showOriginal(json::Object& container) {
  if (variableOf(container, kOriginalResourcesEnv) != nullptr) return;
  const std::string path = fmt::format("metadata.annotations['{}']", kOriginalResources);
  addVariable(container, {{"name", kOriginalResourcesEnv},
                          {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}

// Whole cores of the limit, else of the request; 0 when neither is said.
int64_t coresOf(const json::Object& original, std::string_view container) {
  const json::Object* resources = findObject(original, container);
  for (std::string_view part : {"limits", "requests"}) {
    const json::Object* list = resources ? findObject(*resources, part) : nullptr;
    if (auto cpu = list ? amountIn(*list, "cpu") : std::nullopt) return cpu->value();
  }
  return 0;
}

// Whatever the container says itself counts, also when it comes from a Secret we cannot read.
void limitProcessors(json::Object& container, int64_t cores) {
  if (cores <= 0) return;
  const std::string option = fmt::format("{}{}", kActiveProcessors, cores);
  json::Object* said = variableOf(container, kJavaOptions);
  if (said == nullptr) return addVariable(container, {{"name", kJavaOptions}, {"value", option}});
  const auto text = textIn(*said, "value");
  if (!text || text->find(kActiveProcessors) != text->npos) return;
  setText(*said, "value", text->empty() ? option : fmt::format("{} {}", *text, option));
}

}  // namespace

bool runsJvm(const json::Object& pod) {
  return labelOf(pod, "spark-role") || labelOf(pod, "type") == "flink-native-kubernetes";
}

void tellJvms(json::Object& pod, const json::Object& original) {
  const bool limited = annotationOf(pod, kSetActiveProcessors) == "true";
  eachContainer(objectIn(pod, "spec"), kContainers, [&](json::Object& container) {
    showOriginal(container);
    if (limited)
      limitProcessors(container, coresOf(original, textIn(container, "name").value_or("")));
  });
}

}  // namespace mangrove::manager
