#include "apiserver/auth/jwt.h"

#include <algorithm>

#include "apiserver/core/object.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kAlgorithm = "ES256";
// Our own stay below 2 KiB; what is larger is not worth decoding.
constexpr size_t kLongestToken = 16 * 1024;

Failure untrusted(std::string_view why) {
  return fail(Code::kUnauthorized, "token: {}", why);
}

Result<json::Object> readPiece(std::string_view piece, std::string_view what) {
  auto text = base64UrlDecode(piece);
  if (!text) return untrusted(std::string(what) + " is not base64url");
  auto value = json::parse(*text);
  if (!value || !value->is_object()) return untrusted(std::string(what) + " is not a JSON object");
  return value->get_object();
}

}  // namespace

bool looksLikeJwt(std::string_view token) {
  return std::count(token.begin(), token.end(), '.') == 2 && token.size() <= kLongestToken;
}

Result<std::string> makeJwt(const SigningKey& key, const json::Object& claims) {
  const json::Object header{{"alg", kAlgorithm}, {"kid", key.id()}};
  const std::string text =
      base64UrlEncode(json::write(header)) + "." + base64UrlEncode(json::write(claims));
  auto signature = key.sign(text);
  if (!signature) return pass(signature.error());
  return text + "." + base64UrlEncode(*signature);
}

Result<json::Value> openJwt(const SigningKey& key, std::string_view token) {
  if (!looksLikeJwt(token)) return untrusted("want three pieces separated by dots");
  const auto pieces = split(token, '.');
  auto header = readPiece(pieces[0], "its header");
  if (!header) return pass(header.error());
  if (textAt(*header, "alg") != kAlgorithm) return untrusted("want the algorithm ES256");
  // Before the signature, which is a thousand times dearer: strangers do not know the key's name.
  if (textAt(*header, "kid") != key.id())
    return untrusted("signed with a key this server does not have");
  auto signature = base64UrlDecode(pieces[2]);
  const std::string_view signedText = token.substr(0, token.rfind('.'));
  if (!signature || !key.verify(signedText, *signature))
    return untrusted("the signature is not right");
  auto claims = readPiece(pieces[1], "its payload");
  if (!claims) return pass(claims.error());
  return json::Value(std::move(*claims));
}

}  // namespace mangrove::apiserver
