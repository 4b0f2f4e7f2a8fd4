#pragma once
// The device books of a whole cluster from its objects, for those who only look: `mangrove top` and
// the dashboard.
//
//   DeviceLibrary books;
//   books.node(node);  books.device(device);  books.pod(pod);   // nodes before their Device
//   for (const auto& [name, book] : books.all()) …
//
// One thread.

#include <map>
#include <string>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/device/book.h"

namespace mangrove::dashboard {

class DeviceLibrary {
 public:
  void node(const api::Node& node) { labels_[node.meta.name.str()] = node.meta.labels; }
  // Fails on a partition table that cannot be read.
  Result<> device(const api::Device& device);
  void pod(const api::Pod& pod);

  const std::map<std::string, placement::DeviceBook>& all() const { return books_; }  // by node
  // "ns/name" of a pod that holds something.
  const std::string& nameOf(const api::Uid& holder) const { return names_.at(holder); }

 private:
  std::map<std::string, placement::DeviceBook> books_;
  std::map<std::string, api::Labels> labels_;
  std::map<api::Uid, std::string> names_;
};

// "healthy", "unhealthy", or "gone" for a card that is held and no longer reported.
std::string_view healthWord(const placement::Card& card);
// The resource that says how full a card of the type is.
Interned mainResource(std::string_view type);

}  // namespace mangrove::dashboard
