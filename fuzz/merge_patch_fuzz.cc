// Two lines: a document and a patch. Patching twice is patching once; a difference applied gives
// the other document.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/merge_patch.h"

using namespace mangrove;

namespace {

void checkDiff(const json::Value& from, const json::Value& to) {
  auto patch = json::mergeDiff(from, to);
  if (!patch) {
    CHECK(patch.error().code() == Code::kUnsupported, "{}", patch.error().text());
    return;
  }
  json::Value patched = from;
  json::applyMergePatch(patched, *patch);
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

  json::Value once = *document;
  json::applyMergePatch(once, *patch);
  json::Value twice = once;
  json::applyMergePatch(twice, *patch);
  CHECK(json::equal(once, twice), "{} then {}", json::write(once), json::write(twice));
  checkDiff(*document, once);
  return 0;
}
