#pragma once
// The formats that schemas may ask of text: what they mean, and whether a text is one. Formats
// Kubernetes does not know are ignored. Pure functions; any thread.

#include <string_view>

namespace mangrove::apiserver {

// True for formats we do not know.
bool hasFormat(std::string_view text, std::string_view format);
bool isKnownFormat(std::string_view format);

bool isIpv4(std::string_view text);
bool isIpv6(std::string_view text);
bool isIp(std::string_view text);
bool isCidr(std::string_view text);

}  // namespace mangrove::apiserver
