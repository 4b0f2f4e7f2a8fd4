#include "manager/webhook/admission.h"

#include <utility>

namespace mangrove::manager {

Review Review::refuse(int code, std::string reason, std::string message) {
  Review review;
  review.allowed = false;
  review.code = code;
  review.reason = std::move(reason);
  review.message = std::move(message);
  return review;
}

}  // namespace mangrove::manager
