// changeObject: the server's own writes, for subresources and controllers inside the server.
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write.h"
#include "json/arena.h"

namespace mangrove::apiserver {

namespace {

constexpr int kMostAttempts = 10;

class OwnChange : public std::enable_shared_from_this<OwnChange> {
 public:
  OwnChange(Context& context, ResourcePtr resource, std::string ns, std::string name, Change change,
            Changed done)
      : context_(context),
        resource_(std::move(resource)),
        ns_(std::move(ns)),
        name_(std::move(name)),
        change_(std::move(change)),
        done_(std::move(done)) {}

  void attempt() {
    auto seen = context_.store.getHead(resource_->stored, ns_, name_);
    if (!seen) return done_(refuse(answer::notFound(*resource_->kind, name_)));
    json::Arena arena;
    auto object = json::parse(*seen->json(), arena.storage());
    if (!object) return done_(refuse(answer::internal(object.error().text())));
    const json::Value before(*object, arena.storage());
    if (auto ok = change_(object->get_object()); !ok) return done_(tl::unexpected(ok.error()));
    if (json::equal(*object, before)) return done_(seen);
    stampUpdate(*resource_->kind, object->get_object(), before.get_object());
    store(std::move(*object), seen);
  }

 private:
  void store(json::Value object, const store::ObjectPtr& seen) {
    auto stored = [self = shared_from_this()](Result<store::ObjectPtr> result) {
      if (result) return self->done_(*result);
      const bool race = result.error().code() == Code::kConflict;
      if (race && ++self->attempts_ < kMostAttempts) return self->attempt();
      self->done_(refuse(answer::ofError(result.error())));
    };
    const bool finished = isBeingDeleted(object.get_object()) && !isKept(object.get_object());
    if (finished) {
      removeObject(context_, resource_, std::move(object), seen, stored);
    } else {
      putObject(context_, resource_, std::move(object), seen, stored);
    }
  }

  Context& context_;
  ResourcePtr resource_;
  std::string ns_, name_;
  Change change_;
  Changed done_;
  int attempts_ = 0;
};

}  // namespace

void changeObject(Context& context, ResourcePtr resource, std::string ns, std::string name,
                  Change change, Changed done) {
  std::make_shared<OwnChange>(context, std::move(resource), std::move(ns), std::move(name),
                              std::move(change), std::move(done))
      ->attempt();
}

}  // namespace mangrove::apiserver
