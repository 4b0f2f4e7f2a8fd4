#pragma once
// What the scheduler tells about itself over HTTP, as the reference does: nodes as it sees them,
// and what its plugins keep. Only the leader answers; the others say 503.
//
//   GET /apis/v1/__services__            which paths there are
//   GET /apis/v1/nodes/{node}
//   GET /apis/v1/plugins/{plugin}/…      LoadAwareScheduling/node/{node},
//   NodeNUMAResource/nodes/{node}
//
// answerService() runs in the owner's thread.

#include <string>
#include <string_view>

#include "placement/engine/engine.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

struct ServiceAnswer {
  int status = 200;
  std::string body;  // JSON
};
// `path` as requested, without query.
ServiceAnswer answerService(Engine& engine, std::string_view path, bool leading);

}  // namespace mangrove::scheduler
