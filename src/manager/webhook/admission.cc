#include "manager/webhook/admission.h"

#include <utility>

namespace mangrove::manager {

std::string_view operationName(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      return "CONNECT";
  }
  return "";
}

Review Review::refuse(int code, std::string reason, std::string message) {
  Review review;
  review.allowed = false;
  review.code = code;
  review.reason = std::move(reason);
  review.message = std::move(message);
  return review;
}

}  // namespace mangrove::manager
