#pragma once
// The way back for clients that prefer protobuf: answers and watch events are made in JSON, as for
// everybody, and translated when they leave. So errors, subresources and lists speak protobuf
// without knowing it. What protobuf cannot say passes as it is.
//
//   if (prefersProtobuf) to = inProtobuf(std::move(to));
//
// Owner thread, like the responder inside.

#include "apiserver/core/call.h"

namespace mangrove::apiserver::protobuf {

ResponderPtr inProtobuf(ResponderPtr to);

}  // namespace mangrove::apiserver::protobuf
