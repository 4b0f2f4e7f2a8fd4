#include "api/koordinator/extensions.h"

#include "api/wire/write.h"

namespace mangrove::api {
namespace {

constexpr std::string_view kNested = "Object";

}  // namespace

bool read(const In& in, Extensions& out) {
  if (!in.view.isObject()) return in.wants("an object");
  const json::View nested = in.view[kNested];
  const bool isNested = nested.isObject() || (nested.isNull() && in.view.size() == 1);
  if (!isNested) return read(in, out.values);
  return nested.isNull() || read(in.member(kNested, nested), out.values);
}

json::Value toJson(const Extensions& value) {
  json::Object out;
  putAlways(out, kNested, value.values);
  return out;
}

}  // namespace mangrove::api
