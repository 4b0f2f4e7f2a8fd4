#include "vector_runner/manager_support.h"

namespace mangrove::vectors {

json::Object objectOf(const json::Object& c, std::string_view key) {
  const json::Value& value = member(c, key);
  return value.is_object() ? value.get_object() : json::Object{};
}

manager::SloConfig loadSequence(const json::Object& c) {
  manager::SloConfig config;
  for (const auto& step : member(c, "configmap_data_sequence").as_array()) {
    std::map<std::string, std::string> data;
    for (const auto& [key, value] : step.as_object())
      data[std::string(key)] = std::string(value.as_string());
    config = manager::loadConfig(config, &data).state;
  }
  return config;
}

}  // namespace mangrove::vectors
