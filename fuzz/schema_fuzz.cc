// Schemas of custom resources: compiled, and what compiles validates, decodes and gives defaults to
// anything. Input: the schema, a line "---", then the object.
#include <cstdint>
#include <string_view>

#include "apiserver/schema/crd_schema.h"
#include "apiserver/schema/decoding.h"
#include "apiserver/schema/defaulting.h"
#include "apiserver/schema/validation.h"
#include "json/value.h"

using namespace mangrove;
using namespace mangrove::apiserver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kLine = "\n---\n";
  const size_t cut = text.find(kLine);
  auto source = json::parse(text.substr(0, cut));
  if (!source || !source->is_object()) return 0;
  auto set = SchemaSet::make();
  FieldErrors errors;
  const CompiledSchema schema =
      compileSchema(source->get_object(), FieldPath("schema"), *set, errors);
  set->finish();
  if (!errors.empty() || !schema.root) return 0;
  validateDefaults(*schema.root, FieldPath("schema"), errors);
  if (cut == text.npos) return 0;
  auto object = json::parse(text.substr(cut + kLine.size()));
  if (!object) return 0;
  FieldErrors wrong;
  validate(*schema.root, *object, FieldPath(), wrong);
  validateEnums(*schema.root, *object, FieldPath(), wrong);
  (void)wrong.text();
  (void)decode(*schema.root, *object, "object");
  return 0;
}
