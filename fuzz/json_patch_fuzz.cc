// Two lines: a document and a patch. A refused patch changes nothing; a difference applied gives
// the other document.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/json_patch.h"

using namespace mangrove;

namespace {

void checkDiff(const json::Value& from, const json::Value& to) {
  json::Value patched = from;
  auto done = json::applyJsonPatch(patched, json::jsonDiff(from, to));
  CHECK(done.has_value(), "{}", done.error().text());
  CHECK(json::equal(patched, to), "{} is not {}", json::write(patched), json::write(to));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  auto document = json::parse(text.substr(0, line));
  auto patch = json::parse(text.substr(line + 1));
  if (!document || !patch) return 0;
  checkDiff(*document, *patch);

  json::Value patched = *document;
  const json::PatchLimits limits{.maxOperations = 100, .maxCopyBytes = 1 << 16};
  auto done = json::applyJsonPatch(patched, *patch, limits);
  if (done)
    checkDiff(*document, patched);
  else
    CHECK(patched == *document, "a refused patch changed {}", json::write(*document));
  return 0;
}
