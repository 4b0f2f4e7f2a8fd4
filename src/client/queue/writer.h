#pragma once
// How controllers write: patches of the fields they own, never objects they read. A patch that
// would change nothing is not sent.
//
//   Writer writer(client, "node-resource", registry);
//   writer.patch(owner, {kind::kNode, "", "n1", "status"}, PatchType::kMerge, body,
//                informer.raw("n1").value_or(""), [&](Result<bool> sent) { … });
//
// Any thread. Each patch counts once: sent, skipped or failed. `current` is the object's JSON as
// the caller knows it; a cache that is behind can only cause a patch that was not needed, or leave
// one out that the next reconcile brings. An empty `current` always sends.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"

namespace mangrove::client {

// Whether applying `patch` to `current` would change it; true when that cannot be told (server-side
// apply, a patch that does not fit, a kind without merge rules).
bool patchChanges(std::string_view current, PatchType type, std::string_view patch,
                  const Kind& kind);

struct WriterStats {
  uint64_t sent = 0;
  uint64_t skipped = 0;
  uint64_t failed = 0;  // of those sent
};

class Writer {
 public:
  // `user` is sent as the field manager and labels the metrics; metrics may be null.
  Writer(ApiClient& client, std::string user, Registry* metrics = nullptr);

  // True: sent and accepted; false: there was nothing to change. `done` runs in the owner's thread.
  using Done = UniqueFn<void(Result<bool>)>;
  void patch(Mailbox& owner, Ref ref, PatchType type, std::string body, std::string_view current,
             Done done = {});
  // The same, waiting.
  Result<bool> patch(Ref ref, PatchType type, std::string body, std::string_view current);

  // Creations and deletions go through as they are, and are counted.
  Result<std::string> create(Kind kind, std::string ns, std::string body);
  Result<> remove(Ref ref, const DeleteOptions& options = {});
  void submit(Mailbox& owner, Request request, ApiClient::Done done);

  WriterStats stats() const;
  ApiClient& client() { return client_; }

 private:
  struct Counts;
  Request requestFor(Ref ref, PatchType type, std::string body) const;

  ApiClient& client_;
  std::string user_;
  std::shared_ptr<Counts> counts_;  // answers may come after we are gone
};

}  // namespace mangrove::client
