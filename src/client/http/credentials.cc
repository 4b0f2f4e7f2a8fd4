#include "client/http/credentials.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::client {

namespace {

const Logger log("client");

// How often rotated files are looked at: the kubelet replaces tokens long before they expire.
constexpr Duration kFileAge = std::chrono::minutes(1);
// A plugin's credential is renewed so long before its end, so that it does not expire in flight.
constexpr Duration kExpiryMargin = std::chrono::seconds(10);
// After a failure the plugin is left alone for a while; whoever asks gets the same answer.
constexpr Duration kPluginPause = std::chrono::seconds(5);

void addImpersonation(const ClientConfig& config, net::Headers& headers) {
  if (config.impersonate.empty()) return;
  headers.add("Impersonate-User", config.impersonate);
  if (!config.impersonateUid.empty()) headers.add("Impersonate-Uid", config.impersonateUid);
  for (const std::string& group : config.impersonateGroups) headers.add("Impersonate-Group", group);
  for (const auto& [key, values] : config.impersonateExtra)
    for (const std::string& value : values)
      headers.add("Impersonate-Extra-" + percentEncode(key), value);
}

bool sameMaterial(const net::TlsClientOptions& a, const net::TlsClientOptions& b) {
  return a.caPem == b.caPem && a.certPem == b.certPem && a.keyPem == b.keyPem;
}

}  // namespace

struct Credentials::State {
  State(ClientConfig c, Clock& k, ExecLimits l) : config(std::move(c)), clock(k), limits(l) {
    limits.cancelled = &stopping;
    token = config.token;
  }

  // ---- headers (lock held) ----

  Authorization present() const {
    Authorization out;
    out.generation = generation;
    std::string bearer = config.exec ? credential.token : token;
    if (!bearer.empty()) {
      out.headers.add("Authorization", "Bearer " + bearer);
    } else if (!config.username.empty()) {
      out.headers.add("Authorization",
                      "Basic " + base64Encode(config.username + ":" + config.password));
    }
    addImpersonation(config, out.headers);
    return out;
  }

  // ---- token file (lock held) ----

  // True when the token changed.
  bool readTokenFile() {
    tokenReadAt = clock.mono();
    auto text = readFile(config.tokenFile);
    std::string fresh = text ? std::string(trim(*text)) : "";
    if (fresh.empty()) {
      std::string why = text ? "it is empty" : text.error().text();
      log.warn("token file {}: {}; keeping the last token", config.tokenFile, why);
      return false;
    }
    if (fresh == token) return false;
    token = std::move(fresh);
    ++generation;
    return true;
  }
  void freshenTokenFile() {
    if (config.tokenFile.empty()) return;
    if (!tokenReadAt || clock.mono() - *tokenReadAt >= kFileAge) readTokenFile();
  }

  // ---- exec plugin ----

  bool credentialGood() const {
    if (!haveCredential) return false;
    return !credential.expires || clock.wall() + kExpiryMargin < *credential.expires;
  }

  // Lock held. True when `ready` has to wait for the plugin.
  bool mustFetch() const { return config.exec && !credentialGood(); }

  void enqueue(Ready ready) {  // lock held
    waiting.push_back(std::move(ready));
    if (!worker.joinable()) worker = std::thread([this] { serve(); });
    wanted.notify_one();
  }

  // The plugin's thread: one run answers everybody who waits by then.
  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      wanted.wait(lock, [this] { return stopping || !waiting.empty(); });
      if (stopping) return;
      bool run = !credentialGood();
      lock.unlock();
      Result<> good = run ? fetch() : Result<>{};
      lock.lock();
      std::vector<Ready> waiters = std::exchange(waiting, {});
      Result<Authorization> answer = good ? Result<Authorization>(present()) : pass(good.error());
      lock.unlock();
      for (Ready& ready : waiters) ready(answer);
      lock.lock();
    }
  }

  Result<> fetch() {
    if (failedAt && clock.mono() - *failedAt < kPluginPause) return pass(*failure);
    std::string ca = config.ca.load().value_or("");
    auto got = runExecPlugin(*config.exec, execInfo(*config.exec, config, ca), clock, limits);
    if (!got) {
      failedAt = clock.mono();
      failure = got.error().in("{}", config.source).value();
      return pass(*failure);
    }
    failedAt.reset();
    takeCredential(std::move(*got));
    return {};
  }

  void takeCredential(ExecCredential got) {
    bool newCertificate = false;
    {
      std::lock_guard lock(mutex);
      newCertificate = got.clientCertificate != credential.clientCertificate;
      credential = std::move(got);
      haveCredential = true;
      ++generation;
    }
    if (newCertificate) announceTls();
  }

  // ---- certificates ----

  Result<net::TlsClientOptions> loadTls() const {
    net::TlsClientOptions out;
    out.serverName = config.tlsServerName;
    out.insecureSkipVerify = config.insecureSkipTlsVerify;
    auto ca = config.ca.load();
    if (!ca) return ca.error().in("{}: certificate authority", config.source);
    out.caPem = std::move(*ca);
    auto certificate = config.clientCertificate.load();
    if (!certificate) return certificate.error().in("{}: client certificate", config.source);
    out.certPem = std::move(*certificate);
    auto key = config.clientKey.load();
    if (!key) return key.error().in("{}: client key", config.source);
    out.keyPem = std::move(*key);
    std::lock_guard lock(mutex);
    if (!credential.clientCertificate.empty()) {
      out.certPem = credential.clientCertificate;
      out.keyPem = credential.clientKey;
    }
    return out;
  }

  bool certificatesInFiles() const {
    return !config.ca.path.empty() || !config.clientCertificate.path.empty();
  }

  // Calls the hook when the material is new; keeps the old one when a file cannot be read.
  void announceTls() {
    auto fresh = loadTls();
    if (!fresh) {
      log.warn("{}; keeping the certificates in use", fresh.error().text());
      return;
    }
    {
      std::lock_guard lock(mutex);
      if (lastTls && sameMaterial(*lastTls, *fresh)) return;
      lastTls = *fresh;
    }
    // Rotation is rare and the hook short; two at once must not overtake each other.
    std::lock_guard lock(tlsMutex);
    if (tlsChanged) tlsChanged(*fresh);
  }

  void freshenCertificates() {
    {
      std::lock_guard lock(mutex);
      if (!certificatesInFiles() || clock.mono() - tlsReadAt < kFileAge) return;
      tlsReadAt = clock.mono();
    }
    announceTls();
  }

  const ClientConfig config;
  Clock& clock;
  ExecLimits limits;
  mutable std::mutex mutex;
  std::mutex tlsMutex;
  std::condition_variable wanted;
  uint64_t generation = 1;
  std::string token;
  std::optional<MonoTime> tokenReadAt;
  ExecCredential credential;
  bool haveCredential = false;
  std::vector<Ready> waiting;
  std::thread worker;
  std::optional<MonoTime> failedAt;  // worker's own
  std::optional<Error> failure;
  MonoTime tlsReadAt{};
  mutable std::optional<net::TlsClientOptions> lastTls;
  UniqueFn<void(const net::TlsClientOptions&)> tlsChanged;
  std::atomic<bool> stopping = false;
};

Credentials::Credentials(ClientConfig config, Clock& clock, ExecLimits limits)
    : state_(std::make_unique<State>(std::move(config), clock, limits)) {
  std::lock_guard lock(state_->mutex);
  state_->tlsReadAt = clock.mono();
  state_->freshenTokenFile();
}

Credentials::~Credentials() {
  std::vector<Ready> waiters;
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->wanted.notify_all();
  }
  if (state_->worker.joinable()) state_->worker.join();
  waiters.swap(state_->waiting);
  for (Ready& ready : waiters) ready(fail(Code::kCancelled, "the client is going away"));
}

void Credentials::authorize(Ready ready) {
  state_->freshenCertificates();
  Authorization now;
  {
    std::lock_guard lock(state_->mutex);
    state_->freshenTokenFile();
    if (state_->mustFetch()) return state_->enqueue(std::move(ready));
    now = state_->present();
  }
  ready(std::move(now));
}

bool Credentials::refused(uint64_t generation) {
  std::lock_guard lock(state_->mutex);
  if (generation != state_->generation) return true;
  if (state_->config.exec) {
    state_->haveCredential = false;
    return true;
  }
  return !state_->config.tokenFile.empty() && state_->readTokenFile();
}

Result<net::TlsClientOptions> Credentials::tls() const {
  auto options = state_->loadTls();
  if (options) {
    std::lock_guard lock(state_->mutex);
    state_->lastTls = *options;
  }
  return options;
}

void Credentials::onTlsChange(UniqueFn<void(const net::TlsClientOptions&)> changed) {
  std::lock_guard lock(state_->tlsMutex);
  state_->tlsChanged = std::move(changed);
}

}  // namespace mangrove::client
