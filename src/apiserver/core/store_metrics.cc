#include "apiserver/core/store_metrics.h"

#include "apiserver/heap.h"

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
  context.metrics.gauge("mangrove_store_window_events", "Changes that watches can go back to.")
      .set(static_cast<double>(stats.windowEvents));
  context.metrics
      .gauge("mangrove_store_window_bytes", "JSON of the superseded versions among them.")
      .set(static_cast<double>(stats.windowBytes.v));
}

// How the memory of the process is used, to tell a growing state from an allocator's leftovers.
void setMemory(Registry& metrics) {
  const HeapUse heap = heapUse();
  auto& bytes = metrics.gauges("mangrove_heap_bytes", "The allocator's memory.", {"state"});
  bytes.with({"used"}).set(static_cast<double>(heap.used));
  bytes.with({"free"}).set(static_cast<double>(heap.free));
  metrics.gauge("mangrove_interned_texts", "Distinct names kept for the life of the process.")
      .set(static_cast<double>(internedStats().texts));
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
    setMemory(context.metrics);
    Answer answer = answer::json(200, context.metrics.exposition());
    answer.contentType = Registry::kContentType;
    to->answer(std::move(answer));
  });
}

}  // namespace mangrove::apiserver
