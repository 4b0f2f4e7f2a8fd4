#pragma once
// `mangrove apiserver`: the embedded server on the network, with its state in one directory.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/heap.h"
#include "apiserver/server_flags.h"
#include "apiserver/serving.h"
#include "frame/role.h"

namespace mangrove::apiserver {

class ApiServerRole final : public frame::Role {
 public:
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

 private:
  Result<> checkBind() const;

  std::string dataDir_ = "/var/lib/mangrove";
  std::string bind_ = "127.0.0.1";
  int64_t port_ = 6443;
  bool allowRemote_ = false;
  ServerFlags server_;
  Mailbox* owner_ = nullptr;
  std::unique_ptr<Serving> serving_;
  std::optional<HeapKeeper> heap_;
};

}  // namespace mangrove::apiserver
