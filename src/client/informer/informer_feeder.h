#pragma once
// The decoding half of an informer (see informer_engine.h). Lives in the home thread.

#include <atomic>
#include <memory>
#include <mutex>

#include "client/informer/informer_engine.h"

namespace mangrove::client {

// Batches on their way to the owner. Shared by the two halves.
struct FeedFlow {
  explicit FeedFlow(size_t most) : limit(most) {}
  const size_t limit;
  std::atomic<size_t> unapplied = 0;
  std::mutex gate;  // once closed, the owner's mailbox is not touched any more
  bool closed = false;
};

class InformerFeeder final : public ListWatchSink {
 public:
  // `deliver` posts a batch to the owner, who counts it off in `flow`.
  InformerFeeder(AnyDecoder decoder, RawKeep raw, std::shared_ptr<FeedFlow> flow,
                 std::function<void(FedBatch)> deliver)
      : decoder_(std::move(decoder)),
        packer_(raw),
        flow_(std::move(flow)),
        deliver_(std::move(deliver)) {}

  void listStarts() override;
  void listItem(const Received& object) override;
  void listEnds(std::string_view resourceVersion) override;
  void event(EventType type, const Received& object) override;
  void flush() override;
  bool full() const override { return flow_->unapplied > flow_->limit; }

 private:
  FedObject feed(EventType type, const Received& object);
  void send(FedBatch batch);

  AnyDecoder decoder_;
  RawPacker packer_;
  std::shared_ptr<FeedFlow> flow_;
  std::function<void(FedBatch)> deliver_;
  FedBatch listed_;
  FedBatch events_;
};

}  // namespace mangrove::client
