#include "apiserver/core/store_metrics.h"

namespace mangrove::apiserver {

namespace {

const std::vector<double> kBatchBounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

// Only what has objects: a registry of zeros tells nothing.
void setCounts(Context& context) {
  auto& objects = context.metrics.gauges("apiserver_storage_objects",
                                         "Stored objects by kind of resource.", {"resource"});
  for (Interned resource : context.store.resources())
    if (const size_t count = context.store.count(resource))
      objects.with({std::string(resource.view())}).set(static_cast<double>(count));
  const store::Stats stats = context.store.stats();
  context.metrics.gauge("apiserver_storage_size_bytes", "JSON of all stored objects.")
      .set(static_cast<double>(stats.objectBytes.v));
  context.metrics
      .gauge("mangrove_store_pending_transactions", "Transactions that wait for the disk.")
      .set(static_cast<double>(stats.pending));
  context.metrics.gauge("mangrove_store_revision", "Revision of the visible state.")
      .set(static_cast<double>(stats.visible.v));
}

}  // namespace

std::function<void(const store::BatchReport&)> batchMetrics(Registry& metrics) {
  return [took = metrics.histogram("mangrove_store_commit_duration_seconds",
                                   "Time of one disk transaction, fsync included."),
          size = metrics.histogram("mangrove_store_commit_batch_size",
                                   "Transactions that shared one fsync.", kBatchBounds),
          failed = metrics.counter("mangrove_store_commit_failures_total",
                                   "Disk transactions that failed, a full disk for example.")](
             const store::BatchReport& batch) mutable {
    if (batch.failed) return failed.inc();
    took.observe(std::chrono::duration<double>(batch.took).count());
    size.observe(static_cast<double>(batch.transactions));
  };
}

void serveMetrics(Server& server, Context& context) {
  server.onPath("/metrics", [&context](const Call&, ResponderPtr to) {
    setCounts(context);
    Answer answer = answer::json(200, context.metrics.exposition());
    answer.contentType = Registry::kContentType;
    to->answer(std::move(answer));
  });
}

}  // namespace mangrove::apiserver
