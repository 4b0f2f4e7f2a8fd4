#pragma once
// What every writing verb does the same way. A verb says what the object should become; the rest
// follows (write.h tells the order).
//
//   class Create final : public Write { ... };
//   std::make_shared<Create>(context, call, resource, to)->start();
//
// What must stay true, and why:
// - An attempt begins at one head (seen_) and is stored only if that is still the head: admission
//   may take seconds, and nobody's write in between may be lost.
// - Every tree of an attempt is in its arena, which is let go before the disk is waited for: a
//   hundred writes under way would otherwise hold a hundred parsed objects. Nothing that outlives
//   the attempt (what a verb has read, what is repeated) may point into it.
// - Books of fields (managedFields) are kept before admission: what webhooks add belongs to nobody,
//   and its author may still apply it.
// - Checks come after the last change and see exactly what is stored.
// - One answer: every path ends in answer() once, a lost race in another attempt or a 409.
//
// Owner thread; keeps itself alive while others are asked.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/apply/managed_fields.h"
#include "apiserver/core/call.h"
#include "apiserver/core/server.h"
#include "apiserver/core/strategy.h"
#include "apiserver/output/encode.h"
#include "json/arena.h"

namespace mangrove::apiserver {

class Write : public std::enable_shared_from_this<Write> {
 public:
  // What is said of a write that names a version which is no longer the head.
  static constexpr std::string_view kModified =
      "the object has been modified; please apply your changes to the latest version and try again";

  Write(Context& context, Call call, ResourcePtr resource, ResponderPtr to);
  virtual ~Write() = default;

  void start();

 protected:
  // Reads the body, once.
  virtual Outcome<> read() = 0;
  // The new object from the one at the head (null: there is none). May refuse; an object equal to
  // `current` ends the request without a write.
  virtual Outcome<json::Value> propose(const json::Object* current) = 0;
  // May a lost race be tried again from the new head?
  virtual bool mayRepeat() const = 0;
  virtual bool applies() const { return false; }  // server-side apply keeps its own books

  const KindInfo& kind() const { return *resource_->kind; }
  const json::Value& old() const { return request_.oldObject; }  // null: created
  Part part() const;
  Manager manager() const;

  // Where the trees of this attempt are.
  json::Storage storage() {
    if (!arena_) arena_ = std::make_unique<json::Arena>();
    return arena_->storage();
  }

  Context& context_;
  Call call_;
  ResourcePtr resource_;
  std::unique_ptr<json::Arena> arena_;  // before everything that may be in it
  AdmissionRequest request_;
  std::vector<std::string> warnings_;

 private:
  void answer(Answer a);
  void attempt();
  std::optional<Answer> mayNotCreate();
  void admit();
  void settle();
  bool isUnchanged();
  void nameAndStamp();
  std::optional<Answer> invalidity();
  void store();
  void lost(const Error& error);
  void answerStored(const store::ObjectPtr& stored);
  void answerDry();

  ResponderPtr to_;
  Shape shape_;
  store::ObjectPtr seen_;
  int attempts_ = 0;
};

}  // namespace mangrove::apiserver
