#pragma once
// What the descheduler's vectors share: a Look out of the objects of a case.

#include <optional>

#include "base/text/time_text.h"
#include "descheduler/look.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

template <class T>
std::vector<std::shared_ptr<const T>> objectsOf(const json::Object& c, std::string_view key,
                                                Report& r) {
  std::vector<std::shared_ptr<const T>> out;
  const json::Value& list = member(c, key);
  if (!list.is_array()) return out;
  for (const json::Value& value : list.get_array()) {
    auto object = api::decodeText<T>(json::write(value));
    if (object) {
      out.push_back(std::make_shared<const T>(std::move(*object)));
    } else {
      r.mismatch(key, "decodes", object.error().text());
    }
  }
  return out;
}

inline descheduler::Look lookOf(const json::Object& c, Report& r) {
  return {objectsOf<api::Node>(c, "nodes", r), objectsOf<api::Pod>(c, "pods", r),
          objectsOf<api::NodeMetric>(c, "node_metrics", r),
          parseTime(text(c, "now")).value_or(WallTime{})};
}

}  // namespace mangrove::vectors
