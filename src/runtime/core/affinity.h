#pragma once
// Whoever came before goes to the same pod again (sessionAffinity ClientIP), until he has been away
// for longer than the service allows or the pod is gone.
//
//   Affinity affinity;
//   Backend pod = affinity.choose(client, backends, fresh, timeout, now);
//
// A value of one thread.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/number/units.h"
#include "runtime/core/services.h"

namespace mangrove::runtime {

class Affinity {
 public:
  // `fresh`: whose turn it is, for a client that nobody has had. `backends` is not empty.
  const Backend& choose(uint32_t client, const std::vector<Backend>& backends, size_t fresh,
                        Duration timeout, MonoTime now);

 private:
  struct Last {
    Backend backend;
    MonoTime seen;
  };
  void forgetOld(Duration timeout, MonoTime now);

  std::unordered_map<uint32_t, Last> last_;
};

}  // namespace mangrove::runtime
