// Texts of slo-controller-config: whatever is written there, a key either holds with its node
// entries in range, or it is refused with a place inside the text. The first byte chooses the key.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "manager/config/node_strategy.h"
#include "manager/config/rules.h"

using namespace mangrove;
using namespace mangrove::manager;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 8192) return 0;
  const auto keys = knownKeys();
  const std::string key(keys[data[0] % keys.size()]);
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  size_t lines = 1;
  for (char c : text) lines += c == '\n';
  for (const Finding& finding : checkKey(key, text)) {
    CHECK(!finding.message.empty() && finding.key == key, "{}", finding.text());
    CHECK(finding.line >= 1 && finding.line <= lines, "line {} of {}", finding.line, lines);
  }
  const std::map<std::string, std::string> once = {{key, text}};
  const auto first = loadConfig({}, &once).state;
  // The same text again changes nothing, and rendering works whatever was read.
  const auto again = loadConfig(first, &once).state;
  api::ObjectMeta node;
  node.annotations.set("node.koordinator.sh/colocation-strategy", text);
  CHECK(renderNodeSlo(first, node).spec == renderNodeSlo(again, node).spec);
  const auto strategy = colocationFor(first.colocation.config, node);
  CHECK(strategy.inRange, "an annotation out of range was used: {}", text);
  return 0;
}
