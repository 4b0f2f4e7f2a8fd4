#include "manager/webhook/convert.h"

#include <fmt/format.h>

#include "base/text/strings.h"
#include "json/value.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

std::string_view groupOf(std::string_view apiVersion) {
  const auto parts = cut(apiVersion, '/');
  return parts.found ? parts.before : std::string_view();
}

// The converted objects, or why one cannot be.
Result<json::Array> converted(const json::Array& objects, std::string_view wanted) {
  json::Array out;
  for (const auto& object : objects) {
    if (!object.is_object()) return invalid("an object of the review is none");
    json::Object copy = object.as_object();
    const std::string have(textIn(copy, "apiVersion").value_or(""));
    if (groupOf(have) != groupOf(wanted))
      return invalid("cannot convert {} to {}: want the same group", have, wanted);
    copy["apiVersion"] = wanted;
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace

Result<std::string> convertReview(std::string_view body) {
  auto review = json::parse(body);
  if (!review) return pass(review.error());
  const auto* root = review->if_object();
  const auto* request = root ? findObject(*root, "request") : nullptr;
  if (request == nullptr) return invalid("want a ConversionReview with a request");
  const auto uid = textIn(*request, "uid"), wanted = textIn(*request, "desiredAPIVersion");
  const auto* objects = findArray(*request, "objects");
  if (!uid || !wanted || objects == nullptr)
    return invalid("request: want uid, desiredAPIVersion and objects");
  json::Object response{{"uid", *uid}};
  if (auto done = converted(*objects, *wanted)) {
    response["convertedObjects"] = std::move(*done);
    response["result"] = json::Object{{"status", "Success"}};
  } else {
    response["result"] = json::Object{{"status", "Failure"}, {"message", done.error().text()}};
  }
  return json::write(
      json::Object{{"apiVersion", textIn(*root, "apiVersion").value_or("apiextensions.k8s.io/v1")},
                   {"kind", "ConversionReview"},
                   {"response", std::move(response)}});
}

}  // namespace mangrove::manager
