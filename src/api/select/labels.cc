#include "api/select/labels.h"

#include "api/wire/names.h"

namespace mangrove::api {
namespace {

void assign(Interned& to, std::string_view text) {
  to = internRecent(text);
}
void assign(Text& to, std::string_view text) {
  to = Text(text);
}

// A null value is the empty text, as in Go's map[string]string.
template <class V>
bool readEntry(const In& in, std::string_view key, FlatMap<V>& out) {
  V value;
  if (!in.view.isNull()) {
    auto text = readString(in);
    if (!text) return false;
    assign(value, *text);
  }
  out.add(internRecent(key), std::move(value));
  return true;
}

template <class V>
bool readMap(const In& in, FlatMap<V>& out, std::string_view skipped) {
  if (!in.view.isObject()) return in.wants("an object");
  out = {};
  out.reserve(in.view.size());
  for (auto [key, value] : in.view.members()) {
    if (key == skipped) continue;
    in.mix(key);
    if (!readEntry(in.member(key, value), key, out)) return false;
  }
  return true;
}

}  // namespace

bool read(const In& in, Labels& out) {
  return readMap(in, out, std::string_view("\0", 1));
}
bool read(const In& in, Annotations& out) {
  return readMap(in, out, annotation::kLastApplied);
}

}  // namespace mangrove::api
