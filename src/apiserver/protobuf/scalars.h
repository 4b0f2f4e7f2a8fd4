#pragma once
// The small messages that are one value in JSON: times, quantities, durations, "number or text",
// free-form JSON. Both directions. Pure; any thread.

#include <string>
#include <string_view>

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::apiserver::protobuf {

// True for the types this file knows: a message on the wire, no object of the tables.
bool isSmallMessage(const Schema& schema);

// Null when the message says "nothing": a time that is not set, free-form JSON without content.
Result<json::Value> decodeSmall(const Schema& schema, std::string_view bytes);
// The content of the message. A value of a type that does not fit leaves it empty.
void encodeSmall(const Schema& schema, json::View value, std::string& out);

// An error when the bytes are no UTF-8, which JSON could not carry.
Result<json::Value> textValue(std::string_view bytes);

}  // namespace mangrove::apiserver::protobuf
