#pragma once
// CustomResourceDefinitions become live routes, and stop being any when they are deleted, which
// takes their objects along.
//
//   CustomResources custom(context);
//   context.observers.push_back(&custom);
//   custom.recover();                           // routes of definitions stored before
//   custom.installBuiltIn();                    // those every server has, missing or outdated
//
// A route is there before the author of the definition gets an answer; status (accepted names,
// Established, stored versions) and the finalizer that keeps the definition until its objects are
// gone follow as a write of our own. Owner thread; must outlive the messages in context.owner.

#include <map>
#include <string>
#include <string_view>

#include "apiserver/core/server.h"
#include "apiserver/lifecycle/custom_names.h"
#include "apiserver/lifecycle/work_queue.h"

namespace mangrove::apiserver {

inline constexpr std::string_view kCustomResourceFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

// On definitions that came with the program: which ones. A newer program replaces what it marked;
// without the mark a definition is left alone.
inline constexpr std::string_view kBuiltInAnnotation = "mangrove.io/built-in-digest";

struct BuiltInCrd;

class CustomResources final : public Observer {
 public:
  explicit CustomResources(Context& context);

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  void recover();
  void installBuiltIn();

 private:
  struct Definition {
    std::string group, plural;
    std::string uid;
    int64_t generation = -1;  // of the routes; -1: there are none
    bool ending = false;      // being deleted: its routes create nothing
    size_t asked = 0;         // deletions of objects that have not been answered
    NameVerdict names;
  };

  void notice(const store::Object& object);
  void renew(const store::Object& there, const BuiltInCrd& crd, const std::string& digest);
  void judge(const std::string& name, Definition& definition, const json::Object& crd);
  void route(Definition& definition, const json::Object& crd);
  void forget(const std::string& name);
  void examine(const store::Key& key);
  void writeStatus(const store::Key& key, const Definition& definition);
  void removeObjects(const store::Key& key, Definition& definition);
  void answered(const store::Key& key, const Outcome<>& result);
  void release(const store::Key& key);

  Context& context_;
  WorkQueue queue_;
  std::map<std::string, Definition, std::less<>> definitions_;  // by name, "plural.group"
};

}  // namespace mangrove::apiserver
