#include "net/tls/tls_context.h"

#include <array>
#include <mutex>

#include <arpa/inet.h>

#include "net/tls/certificate.h"
#include "net/tls/openssl_ptr.h"

namespace mangrove::net {
namespace {

constexpr std::array<unsigned char, 9> kAlpn = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr std::array<unsigned char, 8> kSessionScope = {'m', 'a', 'n', 'g', 'r', 'o', 'v', 'e'};

// What the verification of the peer's certificate found; hangs on the SSL object.
struct Verification {
  std::string wanted;     // host name or address; empty on servers
  bool tolerant = false;  // note failures, but let the handshake go on
  std::string names;      // what the refused certificate is valid for
};

void freeVerification(void*, void* note, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Verification*>(note);
}

// Not SSL_set_app_data: Asio keeps its own pointer there.
int verificationSlot() {
  static const int slot = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, freeVerification);
  return slot;
}

Verification* verificationOf(const SSL* ssl) {
  return static_cast<Verification*>(SSL_get_ex_data(ssl, verificationSlot()));
}

int noteVerification(int ok, X509_STORE_CTX* store) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  Verification* note = verificationOf(ssl);
  if (!note) return ok;
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  if (!ok && leaf) note->names = namesText(describe(leaf));
  return note->tolerant ? 1 : ok;
}

Result<SslCtxPtr> newContext(const SSL_METHOD* method) {
  SslCtxPtr context(SSL_CTX_new(method));
  if (!context) return fail(Code::kInternal, "TLS context: {}", opensslError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  return context;
}

Result<> addTrusted(SSL_CTX* context, const std::string& pem) {
  auto certificates = parseCertificates(pem);
  if (!certificates) return certificates.error().in("CA certificates");
  for (auto& certificate : *certificates)
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get());
  ERR_clear_error();  // a certificate that is there twice is no problem
  return {};
}

Result<> useKeyPair(SSL_CTX* context, const std::string& certPem, const std::string& keyPem) {
  if (certPem.empty() || keyPem.empty())
    return invalid("a certificate needs its key and a key its certificate; one of them is empty");
  auto chain = parseCertificates(certPem);
  if (!chain) return chain.error().in("certificate");
  auto key = parseKey(keyPem);
  if (!key) return key.error().in("private key");
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1)
    return invalid("certificate: {}", opensslError());
  for (size_t i = 1; i < chain->size(); ++i) SSL_CTX_add1_chain_cert(context, (*chain)[i].get());
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    opensslError();
    return invalid("the private key does not belong to the certificate");
  }
  return {};
}

bool isIpAddress(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

class ClientContext final : public TlsContext {
 public:
  ClientContext(SslCtxPtr context, const TlsClientOptions& options)
      : context_(std::move(context)),
        serverName_(options.serverName),
        verify_(!options.insecureSkipVerify) {
    SSL_CTX_set_app_data(context_.get(), this);
    SSL_CTX_set_session_cache_mode(context_.get(),
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context_.get(), keepSession);
  }

  Result<ssl_st*> connect(const std::string& host) override {
    const std::string& name = serverName_.empty() ? host : serverName_;
    SSL* ssl = SSL_new(context_.get());
    if (!ssl) return fail(Code::kInternal, "TLS connection: {}", opensslError());
    SSL_set_ex_data(ssl, verificationSlot(), new Verification{name, !verify_, {}});
    SSL_set_alpn_protos(ssl, kAlpn.data(), kAlpn.size());
    expect(ssl, name);
    resume(ssl);
    return ssl;
  }
  Result<ssl_st*> accept() override { return fail(Code::kInternal, "a client cannot accept"); }

 private:
  static int keepSession(SSL* ssl, SSL_SESSION* session) {
    auto* self = static_cast<ClientContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    std::lock_guard lock(self->mutex_);
    // A copy, because OpenSSL spoils the original when its connection is dropped without farewell.
    self->session_.reset(SSL_SESSION_dup(session));
    return 0;  // we keep no reference to the original
  }

  void expect(SSL* ssl, const std::string& name) {
    if (isIpAddress(name)) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
      return;
    }
    SSL_set_tlsext_host_name(ssl, name.c_str());
    X509_VERIFY_PARAM_set_hostflags(SSL_get0_param(ssl), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(ssl, name.c_str());
  }

  void resume(SSL* ssl) {
    std::lock_guard lock(mutex_);
    if (session_) SSL_set_session(ssl, session_.get());
  }

  SslCtxPtr context_;
  std::string serverName_;
  bool verify_;
  std::mutex mutex_;
  SslSessionPtr session_;  // the newest ticket
};

class ServerContext final : public TlsContext {
 public:
  ServerContext(SslCtxPtr context, const TlsServerOptions& options)
      : context_(std::move(context)),
        tolerant_(options.clientCertificates == ClientCertificates::kRequest) {
    SSL_CTX_set_session_id_context(context_.get(), kSessionScope.data(), kSessionScope.size());
    SSL_CTX_set_alpn_select_cb(context_.get(), selectAlpn, nullptr);
  }

  Result<ssl_st*> connect(const std::string&) override {
    return fail(Code::kInternal, "a server cannot connect");
  }
  Result<ssl_st*> accept() override {
    SSL* ssl = SSL_new(context_.get());
    if (!ssl) return fail(Code::kInternal, "TLS connection: {}", opensslError());
    SSL_set_ex_data(ssl, verificationSlot(), new Verification{{}, tolerant_, {}});
    return ssl;
  }

 private:
  // Clients that offer only other protocols are served HTTP/1.1 all the same; they find out.
  static int selectAlpn(SSL*, const unsigned char** out, unsigned char* outSize,
                        const unsigned char* offered, unsigned offeredSize, void*) {
    unsigned char* chosen = nullptr;
    int found =
        SSL_select_next_proto(&chosen, outSize, kAlpn.data(), kAlpn.size(), offered, offeredSize);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
  }

  SslCtxPtr context_;
  bool tolerant_;
};

Result<> trustClients(SSL_CTX* context, const TlsServerOptions& options) {
  if (options.clientCertificates == ClientCertificates::kNone) return {};
  if (options.clientCaPem.empty())
    return invalid("client certificates are asked for, but no client CA is given to check them");
  if (auto ok = addTrusted(context, options.clientCaPem); !ok) return ok.error().in("client CA");
  int mode = SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE;
  if (options.clientCertificates == ClientCertificates::kRequire)
    mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, noteVerification);
  auto names = parseCertificates(options.clientCaPem);
  for (auto& certificate : *names) SSL_CTX_add_client_CA(context, certificate.get());
  return {};
}

std::string verifyErrorText(long result) {
  return X509_verify_cert_error_string(result);
}

Error verificationError(const std::string& peer, const Verification& note, long result) {
  std::string why = verifyErrorText(result);
  switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Error(Code::kDenied, fmt::format("certificate of {} is for {}, not for '{}'", peer,
                                              note.names, note.wanted));
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Error(Code::kDenied,
                   fmt::format("certificate of {} is not valid now ({})", peer, why));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return Error(Code::kDenied,
                   fmt::format("certificate of {} is not signed by the given CA ({})", peer, why));
    default:
      return Error(Code::kDenied,
                   fmt::format("certificate of {} cannot be accepted ({})", peer, why));
  }
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::client(const TlsClientOptions& options) {
  auto context = newContext(TLS_client_method());
  if (!context) return pass(context.error());
  if (options.caPem.empty()) {
    // OpenSSL looks for issuers even where nobody asks it to verify, in a directory, each time.
    if (!options.insecureSkipVerify) SSL_CTX_set_default_verify_paths(context->get());
  } else if (auto ok = addTrusted(context->get(), options.caPem); !ok) {
    return pass(ok.error());
  }
  if (!options.certPem.empty() || !options.keyPem.empty()) {
    auto ok = useKeyPair(context->get(), options.certPem, options.keyPem);
    if (!ok) return ok.error().in("client certificate");
  }
  SSL_CTX_set_verify(context->get(), options.insecureSkipVerify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     noteVerification);
  return std::make_shared<ClientContext>(std::move(*context), options);
}

Result<std::shared_ptr<TlsContext>> TlsContext::server(const TlsServerOptions& options) {
  auto context = newContext(TLS_server_method());
  if (!context) return pass(context.error());
  if (auto ok = useKeyPair(context->get(), options.certPem, options.keyPem); !ok)
    return ok.error().in("server certificate");
  if (auto ok = trustClients(context->get(), options); !ok) return pass(ok.error());
  return std::make_shared<ServerContext>(std::move(*context), options);
}

Result<> checkTls(const TlsClientOptions& options) {
  auto context = TlsContext::client(options);
  if (!context) return pass(context.error());
  return {};
}

Result<> checkTls(const TlsServerOptions& options) {
  auto context = TlsContext::server(options);
  if (!context) return pass(context.error());
  return {};
}

PeerInfo tlsPeer(ssl_st* ssl) {
  PeerInfo peer;
  peer.tls = true;
  peer.resumed = SSL_session_reused(ssl) == 1;
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (!certificate || SSL_get_verify_result(ssl) != X509_V_OK) return peer;
  CertificateInfo info = describe(certificate);
  peer.verified = true;
  peer.commonName = std::move(info.commonName);
  peer.organizations = std::move(info.organizations);
  return peer;
}

Error tlsHandshakeError(ssl_st* ssl, const std::string& peer, const std::string& cause) {
  long result = SSL_get_verify_result(ssl);
  const Verification* note = verificationOf(ssl);
  if (result != X509_V_OK && note && !note->tolerant) return verificationError(peer, *note, result);
  if (isCertificateRefusal(cause))
    return Error(Code::kDenied, fmt::format("{} refuses our client certificate ({})", peer, cause));
  return Error(Code::kUnavailable, fmt::format("TLS handshake with {}: {}", peer, cause));
}

bool isCertificateRefusal(const std::string& cause) {
  constexpr std::array kAlerts = {"certificate required", "unknown ca",
                                  "bad certificate",      "certificate expired",
                                  "certificate unknown",  "unsupported certificate",
                                  "certificate revoked",  "access denied"};
  if (cause.find("alert") == cause.npos) return false;
  for (const char* alert : kAlerts)
    if (cause.find(alert) != cause.npos) return true;
  return false;
}

}  // namespace mangrove::net
