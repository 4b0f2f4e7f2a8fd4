#include "apiserver/auth/sealing.h"

#include <algorithm>
#include <array>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "apiserver/core/resources.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kKeyBytes = 32, kNonce = 12, kTag = 16;

using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytesOf(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
int sizeOf(std::string_view text) {
  return static_cast<int>(text.size());
}

// nonce, cipher text, tag
Result<std::string> encrypt(std::string_view key, std::string_view plain, std::string_view place) {
  CipherPtr context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  std::string nonce(kNonce, '\0'), text(plain.size(), '\0'), tag(kTag, '\0');
  int n = 0;
  const bool done =
      context && RAND_bytes(bytesOf(nonce), sizeOf(nonce)) == 1 &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(key),
                         bytesOf(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &n, bytesOf(place), sizeOf(place)) == 1 &&
      EVP_EncryptUpdate(context.get(), bytesOf(text), &n, bytesOf(plain), sizeOf(plain)) == 1 &&
      EVP_EncryptFinal_ex(context.get(), nullptr, &n) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, tag.data()) == 1;
  if (!done) return fail(Code::kInternal, "cannot seal {}: the cipher refuses", place);
  return nonce + text + tag;
}

Result<std::string> decrypt(std::string_view key, std::string_view sealed, std::string_view place) {
  if (sealed.size() < kNonce + kTag) return invalid("{}: what is sealed is too short", place);
  const std::string_view nonce = sealed.substr(0, kNonce);
  const std::string_view text = sealed.substr(kNonce, sealed.size() - kNonce - kTag);
  std::string tag(sealed.substr(sealed.size() - kTag)), plain(text.size(), '\0');
  CipherPtr context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int n = 0;
  const bool done =
      context &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(key), bytesOf(nonce)) ==
          1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &n, bytesOf(place), sizeOf(place)) == 1 &&
      EVP_DecryptUpdate(context.get(), bytesOf(plain), &n, bytesOf(text), sizeOf(text)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), nullptr, &n) == 1;
  if (!done) return invalid("{}: the seal is broken, or the key is another one", place);
  return plain;
}

}  // namespace

Result<std::shared_ptr<const SealingKeys>> SealingKeys::parse(std::string_view text,
                                                              const std::string& path) {
  auto keys = std::make_shared<SealingKeys>();
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const auto [name, encoded, found] = cut(line, ':');
    auto bytes = base64Decode(trim(encoded));
    if (!found || name.empty() || !bytes || bytes->size() != kKeyBytes)
      return invalid(
          "{}, line {}: want NAME:KEY, the key being 32 bytes in base64 "
          "(head -c 32 /dev/urandom | base64)",
          path, number);
    // What is sealed says the name of its key alone.
    if (keys->find(trim(name)))
      return invalid("{}, line {}: a second key of the name '{}'", path, number, trim(name));
    keys->keys_.push_back({std::string(trim(name)), std::move(*bytes)});
  }
  if (keys->keys_.empty()) return invalid("{}: no key inside; want a line NAME:KEY", path);
  return std::shared_ptr<const SealingKeys>(std::move(keys));
}

const SealingKeys::Key* SealingKeys::find(std::string_view name) const {
  const auto key =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& one) { return one.name == name; });
  return key == keys_.end() ? nullptr : &*key;
}

bool SealingKeys::wants(std::string_view resource) const {
  static const Interned secrets = Resources::storedName("", "secrets");
  return resource == secrets.view();
}

Result<std::string> SealingKeys::seal(std::string_view plain, std::string_view place) const {
  auto sealed = encrypt(keys_.front().bytes, plain, place);
  if (!sealed) return sealed;
  return keys_.front().name + ":" + base64Encode(*sealed);
}

Result<std::string> SealingKeys::open(std::string_view sealed, std::string_view place) const {
  const auto [name, encoded, found] = cut(sealed, ':');
  const Key* key = find(name);
  if (!key)
    return invalid("{}: sealed with the key '{}', which the key file does not have", place, name);
  auto bytes = base64Decode(encoded);
  if (!bytes) return invalid("{}: what is sealed is no base64", place);
  return decrypt(key->bytes, *bytes, place);
}

}  // namespace mangrove::apiserver
