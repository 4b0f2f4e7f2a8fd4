#include "client/informer/informer_feeder.h"

namespace mangrove::client {

namespace {
constexpr size_t kBatch = 512;  // events; a larger batch would keep the owner busy for too long
}

void InformerFeeder::listStarts() {
  listed_ = {};
}

void InformerFeeder::listItem(const Received& object) {
  listed_.objects.push_back(feed(EventType::kAdded, object));
}

void InformerFeeder::listEnds(std::string_view resourceVersion) {
  flush();
  listed_.replaces = true;
  listed_.listVersion = resourceVersion;
  send(std::exchange(listed_, {}));
}

void InformerFeeder::event(EventType type, const Received& object) {
  events_.objects.push_back(feed(type, object));
  if (events_.objects.size() >= kBatch) flush();
}

void InformerFeeder::flush() {
  if (!events_.objects.empty()) send(std::exchange(events_, {}));
}

FedObject InformerFeeder::feed(EventType type, const Received& object) {
  FedObject fed;
  fed.type = type;
  fed.key = object.key();
  fed.version = object.resourceVersion;
  if (type == EventType::kDeleted) return fed;  // the cache has the last state
  auto decoded = decoder_(object.view);
  if (decoded) {
    fed.object = std::move(*decoded);
  } else {
    fed.trouble = decoded.error().text();
  }
  fed.raw = packer_.pack(object.raw);
  return fed;
}

void InformerFeeder::send(FedBatch batch) {
  batch.dictionary = packer_.dictionary();
  ++flow_->unapplied;
  deliver_(std::move(batch));
}

}  // namespace mangrove::client
