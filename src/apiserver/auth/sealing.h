#pragma once
// Secrets as they lie on the disk: AES-256-GCM with a key of a file, bound to the row they are in.
//
//   # one key a line, the first seals, all open: NAME:BASE64 of 32 bytes
//   2026-11:q83v…=
//
//   auto sealing = SealingKeys::parse(*readFile(path), path);
//   store::Options{.seal = sealing}
//
// Immutable; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sealer.h"

namespace mangrove::apiserver {

class SealingKeys final : public store::Sealer {
 public:
  // Errors name the line, never the key.
  static Result<std::shared_ptr<const SealingKeys>> parse(std::string_view text,
                                                          const std::string& path);

  bool wants(std::string_view resource) const override;
  Result<std::string> seal(std::string_view plain, std::string_view place) const override;
  Result<std::string> open(std::string_view sealed, std::string_view place) const override;

 private:
  struct Key {
    std::string name, bytes;
  };
  const Key* find(std::string_view name) const;
  std::vector<Key> keys_;
};

}  // namespace mangrove::apiserver
