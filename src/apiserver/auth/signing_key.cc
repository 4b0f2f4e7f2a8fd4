#include "apiserver/auth/signing_key.h"

#include <array>
#include <memory>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "base/text/encoding.h"
#include "net/tls/openssl_ptr.h"

namespace mangrove::apiserver {

namespace {

constexpr int kHalf = 32;  // bytes of r, s, x and y on P-256
constexpr size_t kTokenBytes = 32;

using net::BioPtr;
using net::FreeWith;
using net::KeyPtr;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using SignaturePtr = std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string padded(const BIGNUM* number) {
  std::string out(kHalf, '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), kHalf);
  return out;
}

std::string coordinate(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (!EVP_PKEY_get_bn_param(key, name, &number)) return "";
  NumberPtr owned(number);
  return padded(number);
}

std::string publicDer(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return "";
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool isP256(EVP_PKEY* key) {
  std::array<char, 64> name{};
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, name.data(), name.size(), nullptr) &&
         std::string_view(name.data()) == SN_X9_62_prime256v1;
}

// OpenSSL speaks DER, tokens carry the two numbers side by side.
Result<std::string> rawSignature(const std::string& der) {
  const unsigned char* at = bytes(der);
  SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!signature) return fail(Code::kInternal, "reading back a signature: {}", net::opensslError());
  return padded(ECDSA_SIG_get0_r(signature.get())) + padded(ECDSA_SIG_get0_s(signature.get()));
}

std::string derSignature(std::string_view raw) {
  SignaturePtr signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(bytes(raw), kHalf, nullptr);
  BIGNUM* s = BN_bin2bn(bytes(raw) + kHalf, kHalf, nullptr);
  if (!signature || !ECDSA_SIG_set0(signature.get(), r, s)) return "";
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return "";
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return out;
}

}  // namespace

struct SigningKey::Impl {
  KeyPtr key;
};

Result<SigningKey> SigningKey::fromPem(const std::string& pem) {
  BioPtr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // No pass phrase: an encrypted key must not make us ask on the terminal.
  auto noPassphrase = [](char*, int, int, void*) { return 0; };
  auto impl = std::make_shared<Impl>();
  impl->key.reset(PEM_read_bio_PrivateKey(in.get(), nullptr, noPassphrase, nullptr));
  if (!impl->key)
    return invalid("signing key: no usable private key in the PEM text: {}", net::opensslError());
  if (!isP256(impl->key.get())) return invalid("signing key: want an elliptic curve key on P-256");
  SigningKey key;
  key.id_ = base64UrlEncode(sha256(publicDer(impl->key.get())));
  key.impl_ = std::move(impl);
  return key;
}

Result<std::string> SigningKey::makePem() {
  KeyPtr key(EVP_EC_gen("P-256"));
  BioPtr out(BIO_new(BIO_s_mem()));
  if (!key ||
      !PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr))
    return fail(Code::kInternal, "making a signing key: {}", net::opensslError());
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

Result<std::string> SigningKey::sign(std::string_view text) const {
  DigestPtr digest(EVP_MD_CTX_new());
  size_t size = 0;
  const bool ready =
      digest &&
      EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, impl_->key.get()) == 1 &&
      EVP_DigestSign(digest.get(), nullptr, &size, bytes(text), text.size()) == 1;
  if (!ready) return fail(Code::kInternal, "signing: {}", net::opensslError());
  std::string der(size, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, bytes(text),
                     text.size()) != 1)
    return fail(Code::kInternal, "signing: {}", net::opensslError());
  der.resize(size);
  return rawSignature(der);
}

bool SigningKey::verify(std::string_view text, std::string_view signature) const {
  if (signature.size() != 2 * kHalf) return false;
  const std::string der = derSignature(signature);
  DigestPtr digest(EVP_MD_CTX_new());
  const bool good =
      digest && !der.empty() &&
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, impl_->key.get()) == 1 &&
      EVP_DigestVerify(digest.get(), bytes(der), der.size(), bytes(text), text.size()) == 1;
  ERR_clear_error();
  return good;
}

json::Object SigningKey::jwk() const {
  return {{"use", "sig"},
          {"kty", "EC"},
          {"kid", id_},
          {"crv", "P-256"},
          {"alg", "ES256"},
          {"x", base64UrlEncode(coordinate(impl_->key.get(), OSSL_PKEY_PARAM_EC_PUB_X))},
          {"y", base64UrlEncode(coordinate(impl_->key.get(), OSSL_PKEY_PARAM_EC_PUB_Y))}};
}

std::string sha256(std::string_view text) {
  // Looked up once: every request with a token comes here, and the search takes longer than the
  // sum.
  static const EVP_MD* kSum = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(out.data()), nullptr, kSum,
             nullptr);
  return out;
}

bool sameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> randomToken() {
  std::array<unsigned char, kTokenBytes> secret{};
  if (RAND_bytes(secret.data(), kTokenBytes) != 1)
    return fail(Code::kInternal, "making a token: {}", net::opensslError());
  return base64UrlEncode({reinterpret_cast<char*>(secret.data()), secret.size()});
}

}  // namespace mangrove::apiserver
