#pragma once
// JSON object → protobuf message, the way back from decode.h. Objects are those of this server:
// they have passed the schema, so a member that does not fit its field cannot be there, and one
// that the tables do not know is left out.
//
//   encodeMessage(*messageOf(schema), object, out);
//
// Pure; any thread.

#include <string>

#include "apiserver/protobuf/message.h"
#include "json/view.h"

namespace mangrove::apiserver::protobuf {

// Appends the message without tag and length.
void encodeMessage(const Message& message, json::View object, std::string& out);

}  // namespace mangrove::apiserver::protobuf
