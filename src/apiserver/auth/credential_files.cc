#include "apiserver/auth/credential_files.h"

#include "base/os/files.h"

namespace mangrove::apiserver {

Result<SigningKey> openSigningKey(const std::string& path) {
  auto pem = readFile(path);
  if (!pem && pem.error().code() == Code::kNotFound) {
    pem = SigningKey::makePem();
    if (!pem) return pass(pem.error());
    if (auto ok = writeFileAtomically(path, *pem, {.mode = 0600}); !ok)
      return ok.error().in("new signing key");
  }
  if (!pem) return pem.error().in("signing key");
  auto key = SigningKey::fromPem(*pem);
  if (!key) return key.error().in("{}", path);
  return key;
}

Result<StaticTokens> openTokens(const std::string& path) {
  auto text = readFile(path);
  if (!text && text.error().code() == Code::kNotFound) return StaticTokens();
  if (!text) return text.error().in("tokens");
  auto tokens = StaticTokens::parse(*text);
  if (!tokens) return tokens.error().in("{}", path);
  return tokens;
}

}  // namespace mangrove::apiserver
