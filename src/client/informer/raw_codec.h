#pragma once
// Keeps the JSON text of many similar objects small: the first few objects seen become a
// dictionary, all later ones are zstd frames that refer to it (a 2 KB pod takes about 300 bytes).
//
//   RawPacker packer(RawKeep::kCompressed);           // on the decoding thread
//   RawBlob blob = packer.pack(text);
//   RawUnpacker unpacker;  unpacker.use(packer.dictionary());   // on the reading thread
//   std::string text = *unpacker.unpack(blob);
//
// A packer and an unpacker belong to one thread each; the dictionary between them is immutable. A
// packer makes its dictionary once, so a blob packed with it can always be read.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::client {

enum class RawKeep { kNone, kPlain, kCompressed };

class RawBlob {
 public:
  enum class How : uint8_t { kAbsent, kPlain, kFrame };
  RawBlob() = default;
  RawBlob(How how, std::string_view bytes, size_t original);

  bool absent() const { return how_ == How::kAbsent; }
  How how() const { return how_; }
  std::string_view bytes() const { return {bytes_.get(), size_}; }
  size_t originalSize() const { return original_; }

 private:
  std::unique_ptr<char[]> bytes_;
  uint32_t size_ = 0;
  uint32_t original_ = 0;
  How how_ = How::kAbsent;
};

class RawDictionary;

class RawPacker {
 public:
  explicit RawPacker(RawKeep keep);
  ~RawPacker();
  RawBlob pack(std::string_view text);
  // Null until enough objects have been seen.
  std::shared_ptr<const RawDictionary> dictionary() const { return dictionary_; }

 private:
  struct Context;
  void learn(std::string_view text);

  RawKeep keep_;
  std::string sample_;
  int sampled_ = 0;
  std::shared_ptr<const RawDictionary> dictionary_;
  std::unique_ptr<Context> context_;
};

class RawUnpacker {
 public:
  RawUnpacker();
  ~RawUnpacker();
  void use(std::shared_ptr<const RawDictionary> dictionary);
  // kNotFound when nothing was kept.
  Result<std::string> unpack(const RawBlob& blob) const;

 private:
  struct Context;
  std::shared_ptr<const RawDictionary> dictionary_;
  std::unique_ptr<Context> context_;
};

}  // namespace mangrove::client
