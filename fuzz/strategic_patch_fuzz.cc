// Two lines: an object and a patch, of the kind the object names. A refused patch changes nothing;
// a difference applied gives the other object, as far as merging by key can tell elements apart.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/strategic_patch.h"

using namespace mangrove;

namespace {

constexpr std::string_view kGroups[] = {"", "apps", "batch", "policy"};

const json::MergeSchema& schemaOf(const json::Object& object) {
  const json::Value* kind = object.if_contains("kind");
  if (kind != nullptr && kind->is_string())
    for (std::string_view group : kGroups)
      if (const auto* found = json::mergeSchemaOf(group, kind->get_string())) return *found;
  return *json::mergeSchemaOf("", "Pod");
}

// Scalars that stand in a list more than once, or in two of its objects: there elements may have
// the same key.
bool hasRepeats(const json::Array& list) {
  std::set<std::string> seen;
  for (const json::Value& element : list) {
    std::set<std::string> own;
    if (const json::Object* object = element.if_object())
      for (const auto& member : *object) own.insert(json::write(member.value()));
    else
      own.insert(json::write(element));
    for (const std::string& text : own)
      if (!seen.insert(text).second) return true;
  }
  return false;
}

// Nulls, directives and lists with repeated elements are beyond what a strategic patch can say.
bool isPlain(const json::Value& value) {
  if (const json::Object* object = value.if_object()) {
    for (const auto& member : *object)
      if (member.key().starts_with('$') || !isPlain(member.value())) return false;
    return true;
  }
  if (const json::Array* array = value.if_array()) {
    for (const json::Value& element : *array)
      if (!isPlain(element)) return false;
    return !hasRepeats(*array);
  }
  return !value.is_null();
}

void checkDiff(const json::Value& from, const json::Value& to, const json::MergeSchema& schema) {
  auto patch = json::strategicDiff(from, to, schema);
  if (!patch || !isPlain(from) || !isPlain(to)) return;
  json::Value patched = from;
  auto done = json::applyStrategicPatch(patched, *patch, schema);
  CHECK(done.has_value(), "{}: {}", json::write(*patch), done.error().text());
  CHECK(json::equal(patched, to), "{}: {} is not {}", json::write(*patch), json::write(patched),
        json::write(to));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  auto document = json::parse(text.substr(0, line));
  auto patch = json::parse(text.substr(line + 1));
  if (!document || !patch || !document->is_object()) return 0;
  const json::MergeSchema& schema = schemaOf(document->get_object());
  if (patch->is_object()) checkDiff(*document, *patch, schema);

  json::Value patched = *document;
  auto done = json::applyStrategicPatch(patched, *patch, schema);
  if (!done) CHECK(patched == *document, "a refused patch changed {}", json::write(*document));
  checkDiff(*document, patched, schema);
  return 0;
}
