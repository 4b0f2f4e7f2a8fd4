#pragma once
// What all annotation codecs share. Values are read as Go's plain decoder reads them, because that
// is what everybody else on the cluster does: unknown members are ignored, names match in any case,
// null is unset, a wrong type or an integer that does not fit is an error. Errors name the
// annotation and the place in it: "annotation scheduling.koordinator.sh/resource-status: cpuset:
// found number 3, want a string".
//
//   Result<std::optional<ResourceStatus>> status = parseResourceStatus(pod.meta.annotations);
//   std::string text = annotationText(status);          // the bytes we would write
//
// Each parse function returns nullopt when the annotation is absent. What an empty value means
// differs by key and is said there. Pure functions, any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/select/labels.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "api/wire/write.h"
#include "base/result.h"

namespace mangrove::api {

// What "" means: for most keys it is no JSON, for some the same as absent.
enum class WhenEmpty { kRefuse, kAbsent };

namespace detail {

// Lists and maps that are null are absent; a struct that is null is a struct with nothing set.
template <class T>
inline constexpr bool kNullIsAbsent = false;
template <class T>
inline constexpr bool kNullIsAbsent<std::vector<T>> = true;
template <class T>
inline constexpr bool kNullIsAbsent<std::map<std::string, T>> = true;

}  // namespace detail

template <class T>
Result<std::optional<T>> decodeLikeGo(std::string_view text) {
  TextDoc doc;
  auto view = doc.parse(text);
  if (!view) return pass(view.error());
  if (view->isNull()) return detail::kNullIsAbsent<T> ? std::nullopt : std::optional<T>(T{});
  Reading reading;
  reading.anyCase = true;
  T out{};
  if (!read(In(*view, reading), out)) return refusal(reading);
  return out;
}

template <class T>
Result<std::optional<T>> parseAnnotation(const Annotations& annotations, std::string_view key,
                                         WhenEmpty empty = WhenEmpty::kRefuse) {
  const auto text = annotations.get(key);
  if (!text || (text->empty() && empty == WhenEmpty::kAbsent)) return std::nullopt;
  auto value = decodeLikeGo<T>(*text);
  if (!value) return value.error().in("annotation {}", key);
  return value;
}

// The value as we write it into an annotation.
template <class T>
std::string annotationText(const T& value) {
  return writeLikeGo(toJson(value));
}

// Numbers as Go's strconv reads them (booleans: base/text/go_bool.h), sentences that say what would be
// right.
Result<int64_t> parseGoInt(std::string_view text,
                           int bits = 64);           // base 10, "+5" and "007" are fine
Result<double> parseGoFloat(std::string_view text);  // "1.5", ".5", "1e3", "0x1p-2", "inf"

// Exactly "true": every flag among the labels works like this.
bool isTrueLabel(const Labels& labels, std::string_view key);

}  // namespace mangrove::api
