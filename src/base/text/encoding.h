#pragma once
// Base64, hexadecimal and percent-encoding. Pure functions, any thread. Errors say where the input
// breaks.

#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove {

std::string base64Encode(std::string_view bytes);     // RFC 4648 with padding
std::string base64UrlEncode(std::string_view bytes);  // "-_" and no padding, as in tokens
// Line breaks inside are skipped, as PEM-like data in a kubeconfig has them. Padding must be right.
Result<std::string> base64Decode(std::string_view text);
Result<std::string> base64UrlDecode(std::string_view text);

std::string hexEncode(std::string_view bytes);  // lower case
Result<std::string> hexDecode(std::string_view text);

// RFC 3986: everything but letters, digits and -._~ becomes %XX. Fit for query parts and path
// segments.
std::string percentEncode(std::string_view text);
// plusIsSpace for query strings and form data.
Result<std::string> percentDecode(std::string_view text, bool plusIsSpace = false);

}  // namespace mangrove
