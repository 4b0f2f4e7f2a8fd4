#include "frame/record/role_subject.h"

#include <array>

#include <fmt/format.h>

#include "base/os/temp_folder.h"
#include "frame/role_flags.h"

namespace mangrove::frame::record {
namespace {

// Of what stands around a role and is not replayed.
constexpr std::array<std::string_view, 2> kAround = {"dashboard", "dashboard-token-file"};

class RoleSubject final : public Subject {
 public:
  RoleSubject(std::unique_ptr<Role> role, ReplayHouse& house, std::string identity)
      : role_(std::move(role)),
        info_(role_->info()),
        gates_(info_.gates),
        context_{house.turns.clock(), house.owner, io_, metrics_, health_, gates_, nullptr,
                 [](int) {}} {
    context_.turns = &house.turns;
    context_.identity = std::move(identity);
  }
  ~RoleSubject() override { role_.reset(); }

  Result<> read(const Session& session) {
    auto args = argsIn(session, folder_.path());
    if (!args) return pass(args.error());
    CommonFlags common;
    Flags flags(fmt::format("mangrove {}", info_.name), std::string(info_.about));
    declareCommon(flags, common, info_);
    role_->flags(flags);
    flags.ignore(kAround);
    auto parsed = flags.parse(*args);
    if (!parsed) return parsed.error().in("the recorded flags of {}", session.role);
    if (auto ok = gates_.set(common.gates); !ok) return ok.error().in("--feature-gates");
    return {};
  }
  Result<> start() override { return role_->start(context_); }
  void stop(Fn done) override { role_->stop(std::move(done)); }

 private:
  TempFolder folder_{"replay"};
  std::unique_ptr<Role> role_;
  RoleInfo info_;
  net::Loop io_;
  Registry metrics_;
  Health health_;
  FeatureGates gates_;
  RoleContext context_;
};

}  // namespace

Result<std::unique_ptr<Subject>> roleSubject(std::unique_ptr<Role> role, const Session& session,
                                             ReplayHouse& house) {
  auto out = std::make_unique<RoleSubject>(std::move(role), house, session.identity);
  if (auto ok = out->read(session); !ok) return pass(ok.error());
  return std::unique_ptr<Subject>(std::move(out));
}

}  // namespace mangrove::frame::record
