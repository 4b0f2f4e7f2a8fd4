#pragma once
// Makes JSON bytes small while nobody reads them. Objects of one resource look alike, so each is
// compressed against a few others of its kind, about tenfold; five thousand pods then take two
// megabytes instead of twenty.
//
//   BodyPacker packer;                            // one per resource
//   PackedBody packed = packer.pack(*body);       // empty while there is too little to learn from
//   Body again = packed.unpack();                 // the same bytes
//
// A packer belongs to one thread; a PackedBody may be unpacked by any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mangrove::store {

// JSON text, shared between the store, responses and watchers; never changed.
using Body = std::shared_ptr<const std::string>;

struct UnpackTable;

class PackedBody {
 public:
  PackedBody() = default;
  Body unpack() const;
  bool empty() const { return data_ == nullptr; }
  size_t size() const { return size_; }

 private:
  friend class BodyPacker;
  std::unique_ptr<char[]> data_;
  uint32_t size_ = 0;
  uint32_t unpackedSize_ = 0;
  std::shared_ptr<const UnpackTable> table_;
};

class BodyPacker {
 public:
  BodyPacker();
  ~BodyPacker();
  BodyPacker(const BodyPacker&) = delete;
  BodyPacker& operator=(const BodyPacker&) = delete;

  // Empty when packing would not make it smaller, or not yet.
  PackedBody pack(std::string_view body);

 private:
  struct PackTable;
  void learn(std::string_view body);
  PackedBody packWithTable(std::string_view body) const;

  std::string samples_;  // the next table's
  size_t seen_ = 0;
  size_t learnAt_;
  std::unique_ptr<PackTable> pack_;
  std::shared_ptr<const UnpackTable> unpack_;
};

}  // namespace mangrove::store
