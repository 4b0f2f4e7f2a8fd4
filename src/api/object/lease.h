#pragma once
// coordination.k8s.io Lease: who leads, and until when others must wait. Used by leader election
// and node heartbeats.
//
// Values; const access from any thread.

#include <cstdint>
#include <string>

#include "api/object/meta.h"
#include "api/wire/decode.h"
#include "json/fwd.h"

namespace mangrove::api {

struct Lease {
  ObjectMeta meta;
  std::string holderIdentity;
  int32_t leaseDurationSeconds = 0;
  WallTime acquireTime = kZeroTime;
  WallTime renewTime = kZeroTime;
  int32_t leaseTransitions = 0;

  json::Object specJson() const;
  // The whole object, for creating it; resourceVersion is sent when known, so that an update of a
  // lease somebody else took meanwhile is refused.
  json::Object toJson() const;
};
bool read(const In& in, Lease& out);

}  // namespace mangrove::api
