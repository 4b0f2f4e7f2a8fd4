#include "apiserver/core/call.h"

namespace mangrove::apiserver {

void Responder::upgrade(const std::vector<std::string_view>&, Opened) {
  answer(answer::badRequest("Upgrade request required"));
}

}  // namespace mangrove::apiserver
