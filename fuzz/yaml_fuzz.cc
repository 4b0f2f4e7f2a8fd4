// Whatever YAML is read must come back the same after being written as YAML.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/yaml.h"

using namespace mangrove;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const json::YamlLimits limits{.maxBytes = 1 << 16, .maxDepth = 32, .maxAliasNodes = 1000};
  auto documents =
      json::parseYaml({reinterpret_cast<const char*>(data), size}, "fuzz.yaml", limits);
  if (!documents) return 0;
  for (const auto& [value, line] : *documents) {
    const std::string text = json::writeYaml(value);
    auto back = json::parseYamlDocument(text);
    CHECK(back.has_value(), "{}\n{}", text, back.error().text());
    CHECK(json::equal(*back, value), "{}\nwas {}\nis  {}", text, json::write(value),
          json::write(*back));
    CHECK(line >= 1, "line {}", line);
  }
  return 0;
}
