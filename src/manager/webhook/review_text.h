#pragma once
// AdmissionReviews as they travel: the question an API server sends, the answer it gets. Versions
// v1 and v1beta1 of admission.k8s.io.
//
//   ReviewQuestion question;
//   if (auto read = question.read(body); !read) return 400 with read.error();
//   std::string answer = writeReview(question.apiVersion(), question.request().uid, review);
//
// A ReviewQuestion owns the document its request's views point into; reading again ends them. One
// thread at a time.

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/view.h"
#include "manager/webhook/admission.h"

namespace mangrove::manager {

class ReviewQuestion {
 public:
  // Errors say what is wrong with the review, never with the object inside.
  Result<> read(std::string_view body);
  const AdmissionRequest& request() const { return request_; }
  std::string_view apiVersion() const { return apiVersion_; }

 private:
  json::Doc doc_;
  AdmissionRequest request_;
  std::string apiVersion_;
};

std::string writeReview(std::string_view apiVersion, std::string_view uid, const Review& review);

}  // namespace mangrove::manager
