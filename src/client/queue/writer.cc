#include "client/queue/writer.h"

#include "api/wire/patch.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "json/strategic_patch.h"
#include "json/value.h"

namespace mangrove::client {

namespace {

// metadata.resourceVersion and uid in a patch are conditions, not changes.
void dropConditions(json::Value& patch) {
  if (!patch.is_object()) return;
  json::Value* meta = patch.as_object().if_contains("metadata");
  if (meta == nullptr || !meta->is_object()) return;
  meta->as_object().erase("resourceVersion");
  meta->as_object().erase("uid");
}

bool strategicChanges(const json::Value& before, json::Value& patch, const Kind& kind) {
  const json::MergeSchema* schema = json::mergeSchemaOf(kind.group, kind.kind);
  if (schema == nullptr) return true;
  dropConditions(patch);
  json::Value after = before;
  if (!json::applyStrategicPatch(after, patch, *schema)) return true;
  return after != before;
}

bool jsonPatchChanges(const json::Value& before, const json::Value& patch) {
  json::Value after = before;
  if (!json::applyJsonPatch(after, patch)) return true;
  return after != before;
}

}  // namespace

bool patchChanges(std::string_view current, PatchType type, std::string_view patch,
                  const Kind& kind) {
  if (type == PatchType::kApply || current.empty()) return true;
  auto change = json::parse(patch);
  if (!change) return true;
  if (type == PatchType::kMerge) {
    json::Doc doc;
    auto object = doc.parse(current);
    return !object || api::wouldChange(*object, *change);
  }
  auto before = json::parse(current);
  if (!before) return true;
  if (type == PatchType::kJson) return jsonPatchChanges(*before, *change);
  return strategicChanges(*before, *change, kind);
}

struct Writer::Counts {
  std::atomic<uint64_t> sent = 0, skipped = 0, failed = 0;
  Counter sentMetric, skippedMetric, failedMetric;

  void skip() {
    ++skipped;
    skippedMetric.inc();
  }
  void send() {
    ++sent;
    sentMetric.inc();
  }
  void answer(bool good) {
    if (good) return;
    ++failed;
    failedMetric.inc();
  }
};

Writer::Writer(ApiClient& client, std::string user, Registry* metrics)
    : client_(client), user_(std::move(user)), counts_(std::make_shared<Counts>()) {
  if (metrics == nullptr) return;
  CounterFamily& family = metrics->counters("mangrove_client_writes_total",
                                            "Writes by what became of them.", {"user", "result"});
  counts_->sentMetric = family.with({user_, "sent"});
  counts_->skippedMetric = family.with({user_, "skipped"});
  counts_->failedMetric = family.with({user_, "failed"});
}

Request Writer::requestFor(Ref ref, PatchType type, std::string body) const {
  Query query;
  query.fieldManager = user_;
  return patchRequest(std::move(ref), type, std::move(body), std::move(query));
}

void Writer::patch(Mailbox& owner, Ref ref, PatchType type, std::string body,
                   std::string_view current, Done done) {
  if (!patchChanges(current, type, body, ref.kind)) {
    counts_->skip();
    if (done) owner.post([done = std::move(done)]() mutable { done(false); });
    return;
  }
  submit(owner, requestFor(std::move(ref), type, std::move(body)),
         [done = std::move(done)](Result<Reply> reply) mutable {
           if (done) done(reply ? Result<bool>(true) : pass(reply.error()));
         });
}

Result<bool> Writer::patch(Ref ref, PatchType type, std::string body, std::string_view current) {
  if (!patchChanges(current, type, body, ref.kind)) {
    counts_->skip();
    return false;
  }
  counts_->send();
  auto reply = client_.call(requestFor(std::move(ref), type, std::move(body)));
  counts_->answer(reply.has_value());
  if (!reply) return pass(reply.error());
  return true;
}

Result<std::string> Writer::create(Kind kind, std::string ns, std::string body) {
  Query query;
  query.fieldManager = user_;
  counts_->send();
  auto made = client_.create(kind, std::move(ns), std::move(body), std::move(query));
  counts_->answer(made.has_value());
  return made;
}

Result<> Writer::remove(Ref ref, const DeleteOptions& options) {
  counts_->send();
  auto gone = client_.remove(std::move(ref), options);
  counts_->answer(gone.has_value());
  return gone;
}

void Writer::submit(Mailbox& owner, Request request, ApiClient::Done done) {
  counts_->send();
  client_.submit(owner, std::move(request),
                 [counts = counts_, done = std::move(done)](Result<Reply> reply) mutable {
                   counts->answer(reply.has_value());
                   if (done) done(std::move(reply));
                 });
}

WriterStats Writer::stats() const {
  return {counts_->sent, counts_->skipped, counts_->failed};
}

}  // namespace mangrove::client
