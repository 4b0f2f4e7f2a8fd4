// Server-side apply on a schema with maps, sets, keyed lists and atomic parts: whatever is applied,
// applying it again changes nothing. Input: the live object, a line "---", then what is applied.
#include <cstdint>
#include <string_view>

#include "apiserver/apply/managed_fields.h"
#include "apiserver/schema/crd_schema.h"
#include "base/check.h"
#include "json/value.h"

using namespace mangrove;
using namespace mangrove::apiserver;

namespace {

constexpr std::string_view kSchema = R"({"type":"object","properties":{
  "metadata":{"type":"object"},
  "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],
      "items":{"type":"object","required":["port","protocol"],"properties":{
        "port":{"type":"integer"},"protocol":{"type":"string"},"name":{"type":"string"}}}},
    "hosts":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "words":{"type":"array","items":{"type":"string"}},
    "whole":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}},
    "labels":{"type":"object","additionalProperties":{"type":"string"}}}},
  "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";

const Schema& schema() {
  static const auto set = SchemaSet::make();
  static const Schema* root = [] {
    FieldErrors errors;
    auto compiled =
        compileSchema(json::parse(kSchema)->get_object(), FieldPath("schema"), *set, errors);
    set->finish();
    CHECK(errors.empty() && compiled.root, "{}", errors.text());
    return compiled.root;
  }();
  return *root;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kLine = "\n---\n";
  const size_t cut = text.find(kLine);
  if (cut == text.npos) return 0;
  auto live = json::parse(text.substr(0, cut));
  auto patch = json::parse(text.substr(cut + kLine.size()));
  if (!live || !patch || !live->is_object() || !patch->is_object()) return 0;
  const Manager manager{"fuzz", "example.com/v1", "", WallTime(std::chrono::seconds(1)), true};
  trackUpdate(schema(), nullptr, live->get_object(), manager);
  auto once = applyConfiguration(schema(), &live->get_object(), patch->get_object(), manager, true);
  if (!once || !once->is_object()) return 0;
  auto twice =
      applyConfiguration(schema(), &once->get_object(), patch->get_object(), manager, true);
  CHECK(twice, "{}", twice.error().body);
  CHECK(json::equal(*once, *twice), "{} then {}", json::write(*once), json::write(*twice));
  return 0;
}
