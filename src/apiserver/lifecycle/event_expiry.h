#pragma once
// Removes objects whose time has come: events, an hour after they were last written, sooner when
// there are many (core/event_life.h). Watchers see them go like anything else; admission is not
// asked.
//
//   EventExpiry expiry(context);
//   context.observers.push_back(&expiry);
//   expiry.recover();                           // what came of age while nobody looked
//
// Owner thread; must outlive the messages in context.owner.

#include "apiserver/core/server.h"
#include "base/clock.h"

namespace mangrove::apiserver {

class EventExpiry final : public Observer {
 public:
  explicit EventExpiry(Context& context) : context_(context) {}

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  void recover() { arm(); }

 private:
  size_t surplus() const;
  void arm();
  void sweep();
  void removeOne(const store::ObjectPtr& object);
  void removed(bool fine);

  Context& context_;
  Timer timer_;
  bool armed_ = false;
  WallTime armedFor_;
  size_t removing_ = 0;  // removals that have not been answered
  bool failed_ = false;
};

}  // namespace mangrove::apiserver
