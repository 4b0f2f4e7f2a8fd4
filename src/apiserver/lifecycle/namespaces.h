#pragma once
// The end of namespaces: what is in one that is being deleted is deleted, pods first and with the
// grace they ask for (what they lean on, policies among it, goes after them); when nothing is left, the namespace's own finalizer goes and with it the namespace. Its
// conditions say what it is waiting for.
//
//   NamespaceLifecycle namespaces(context);
//   context.observers.push_back(&namespaces);
//   namespaces.install(server);                 // PUT namespaces/NAME/finalize
//   namespaces.recover();                       // deletions under way at the last stop
//   ensureNamespaces(context, kInitialNamespaces);
//
// Owner thread; must outlive the messages in context.owner.

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/core/server.h"
#include "apiserver/lifecycle/work_queue.h"

namespace mangrove::apiserver {

inline constexpr std::array<std::string_view, 4> kInitialNamespaces = {
    "default", "kube-system", "kube-public", "kube-node-lease"};
// Creates those that are missing.
void ensureNamespaces(Context& context, std::span<const std::string_view> names);

class NamespaceLifecycle final : public Observer {
 public:
  explicit NamespaceLifecycle(Context& context);

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  void install(Server& server);
  void recover();

 private:
  struct Ending {
    bool sweep = true;    // something may be there that nobody has asked to go
    bool podsGo = false;  // the rest waits for the last pod
    size_t asked = 0;     // deletions that have not been answered
    bool failed = false;  // one of them was refused
  };

  void notice(const store::Object& home);
  void examine(const store::Key& key);
  void sweep(const store::Key& key, Ending& ending);
  void removeOne(const store::Key& home, ResourcePtr resource, const store::Object& object);
  void answered(const store::Key& home, const Outcome<>& result);
  void report(const store::Key& home, bool failed);
  void release(const store::Key& home);
  std::vector<ResourcePtr> contents(std::string_view ns) const;

  Context& context_;
  WorkQueue queue_;
  std::map<std::string, Ending, std::less<>> endings_;  // namespaces being deleted
};

}  // namespace mangrove::apiserver
