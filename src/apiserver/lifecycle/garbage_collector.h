#pragma once
// Objects go with their owners. An object whose owners (metadata.ownerReferences) are all gone is
// deleted; one that has others left only loses the reference. An owner deleted in the foreground
// waits for the dependents that block it; one deleted with "orphan" waits until they no longer name
// it.
//
//   GarbageCollector collector(context);
//   context.observers.push_back(&collector);
//   collector.recover();                        // what was left undone before the last stop
//
// Decisions look at the visible state, writes carry the version they were decided on: who was
// faster causes a change, and that a new look. Owner thread; must outlive the messages in
// context.owner.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/core/remove.h"
#include "apiserver/core/server.h"
#include "apiserver/lifecycle/work_queue.h"

namespace mangrove::apiserver {

class GarbageCollector final : public Observer {
 public:
  explicit GarbageCollector(Context& context);

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  // Looks at every object that has owners or is being deleted.
  void recover();

 private:
  // What the references of one object lead to.
  struct Owners {
    int living = 0;                     // present, or not for us to judge
    int waiting = 0;                    // being deleted in the foreground: for this object, too
    std::vector<std::string> dangling;  // uids that nobody has
    std::vector<std::string> leaving;   // uids of the waiting ones
  };

  void examine(const store::Key& key);
  void examineDependent(const store::ObjectPtr& object, const json::Object& root);
  void finishForeground(const store::ObjectPtr& owner);
  void finishOrphaning(const store::ObjectPtr& owner);
  Owners ownersOf(const store::Object& object, const json::Object& root) const;
  enum class Which { kAll, kBlocking };
  std::vector<store::ObjectPtr> dependentsOf(const store::Object& owner, Which which) const;
  store::ObjectPtr ownerAt(const store::Object& object, const json::Object& reference,
                           bool& judged) const;
  void examineOwnersOf(const store::Object& object);
  void forgetGone(const store::Object& dependent);
  void remove(const store::ObjectPtr& object, Propagation propagation);
  void dropReferences(const store::ObjectPtr& object, std::vector<std::string> uids);
  void dropFinalizer(const store::Key& key, std::string_view finalizer);
  bool unblock(const store::ObjectPtr& object);
  void settled(const store::Key& key, const Outcome<>& result);

  Context& context_;
  WorkQueue queue_;
  // Owners we saw go, and how many dependents still name them: their kind may have gone with them.
  std::map<std::string, size_t, std::less<>> gone_;
};

}  // namespace mangrove::apiserver
