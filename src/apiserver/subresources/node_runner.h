#pragma once
// The seam to whoever runs pods on this machine. The API server itself runs none: what needs a
// running container (log, exec, attach, portforward) is handed to the runner, when there is one.

#include <string_view>

#include "apiserver/core/call.h"
#include "store/object.h"

namespace mangrove::apiserver {

class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  // `part` is "log", "exec", "attach" or "portforward"; the query of `call` has the options. The
  // pod exists. Owner thread; answers through `to`, now or later.
  virtual void serve(std::string_view part, const Call& call, const store::ObjectPtr& pod,
                     ResponderPtr to) = 0;
};

}  // namespace mangrove::apiserver
