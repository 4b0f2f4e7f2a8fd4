#pragma once
// Follows the ConfigMap with the strategies: keeps the desk's configuration at the last one that
// could be read, and tells people beside the object what in it is not used.
//
//   ConfigKeeper keeper(desk, options, [&] { addEverything(); });
//   keeper.listen();
//   keeper.tell();                      // on becoming leader
//
// Owner thread. Lives as long as the desk's caches.

#include <functional>
#include <string>
#include <vector>

#include "api/object/core_objects.h"
#include "api/object/event.h"
#include "manager/desk.h"
#include "manager/options.h"

namespace mangrove::manager {

class ConfigKeeper {
 public:
  ConfigKeeper(Desk& desk, const ManagerOptions& options, std::function<void()> changed);

  void listen();
  // The first list is in: without a ConfigMap every setting has its default.
  void settle();
  // Kept until somebody else's version comes: who begins to lead later tells it then.
  void tell() const;

 private:
  void onChange(const client::Change<api::ConfigMap>& change);
  void load(const api::ConfigMap* map);

  // What people should find beside the ConfigMap that holds now.
  struct Note {
    api::ObjectRef about;
    std::string reason, message;
  };
  Desk& desk_;
  std::string where_;  // "namespace/name"
  std::function<void()> changed_;
  std::vector<Note> notes_;
  Gauge present_;
};

}  // namespace mangrove::manager
