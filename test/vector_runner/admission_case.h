#pragma once
// What the admission topics share: a request made of the values of a case, and the object as a
// review leaves it. One thread.

#include <string>

#include "json/json_patch.h"
#include "json/value.h"
#include "json/view.h"
#include "manager/webhook/admission.h"

namespace mangrove::vectors {

class AdmissionCase {
 public:
  AdmissionCase(manager::Operation operation, const json::Value& object, const json::Value& old) {
    request_.operation = operation;
    request_.object = *object_.parse(json::write(object));
    if (!old.is_null()) request_.oldObject = *old_.parse(json::write(old));
  }
  manager::AdmissionRequest& request() { return request_; }
  json::Value after(const manager::Review& review) const {
    json::Value object = json::toValue(request_.object);
    if (!review.patch.is_null()) (void)json::applyJsonPatch(object, review.patch);
    return object;
  }

 private:
  json::Doc object_, old_;
  manager::AdmissionRequest request_;
};

// An annotation that holds JSON, as the JSON it holds, so that it is compared by meaning.
void unfoldAnnotation(json::Value& object, std::string_view key);
void dropAnnotation(json::Value& object, std::string_view key);

}  // namespace mangrove::vectors
