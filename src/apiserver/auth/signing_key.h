#pragma once
// An ECDSA P-256 key that signs and checks tokens (ES256 of RFC 7518), and the little cryptography
// beside it. The only place of the API server that knows OpenSSL. Immutable; any thread.
//
//   auto key = SigningKey::fromPem(pem);
//   std::string signature = *key->sign(text);          // 64 bytes, r and s
//   key->verify(text, signature);                      // true

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

class SigningKey {
 public:
  // A private key, PKCS #8 or SEC 1, unencrypted. Other curves and RSA are refused.
  static Result<SigningKey> fromPem(const std::string& pem);
  // A new key as PKCS #8 PEM text: store it with mode 0600.
  static Result<std::string> makePem();

  Result<std::string> sign(std::string_view text) const;
  bool verify(std::string_view text, std::string_view signature) const;

  // The public half as RFC 7517 has it.
  json::Object jwk() const;
  // Names the key in tokens: a digest of its public half.
  const std::string& id() const { return id_; }

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  std::string id_;
};

std::string sha256(std::string_view bytes);  // 32 bytes
// In time that depends on the sizes alone, so that nobody can guess a secret piece by piece.
bool sameSecret(std::string_view a, std::string_view b);
// A fresh secret of 256 bits as text that fits a header; from the operating system's generator.
Result<std::string> randomToken();

}  // namespace mangrove::apiserver
