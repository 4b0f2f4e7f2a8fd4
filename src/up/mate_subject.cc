#include "up/mate_subject.h"

#include <algorithm>

#include "base/os/temp_folder.h"
#include "up/roles.h"

namespace mangrove::up {
namespace {

using frame::record::ReplayHouse;
using frame::record::Session;

// Beside a replay there is no server: nothing is answered.
class SilentClient final : public client::ApiClient {
 public:
  void submit(client::Request, Done done) override { unanswered_.push_back(std::move(done)); }
  std::unique_ptr<client::Watch> watch(client::WatchRequest, client::WatchHandler) override {
    return std::make_unique<Nothing>();
  }
  std::string server() const override { return "nowhere"; }

 private:
  struct Nothing final : client::Watch {
    void pause() override {}
    void resume() override {}
  };
  std::vector<Done> unanswered_;
};

class MateSubject final : public frame::record::Subject {
 public:
  MateSubject(MakeMate make, ReplayHouse& house)
      : make_(std::move(make)),
        client_(house.turns.client()),
        house_{house.owner,         house.owner, *client_,
               house.turns.clock(), metrics_,    {house.owner, silent_, still_}} {}
  ~MateSubject() override { role_.reset(); }
  Result<> start() override {
    role_ = make_(house_);
    return role_->start();
  }
  void stop(Fn done) override { role_->stop(std::move(done)); }

 private:
  MakeMate make_;
  Registry metrics_;
  SilentClient silent_;
  VirtualClock still_;
  std::unique_ptr<client::ApiClient> client_;
  MateHouse house_;
  std::unique_ptr<MateRole> role_;
};

Result<RolesOptions> optionsOf(const Session& session) {
  const TempFolder folder("replay");
  auto args = frame::record::argsIn(session, folder.path());
  if (!args) return pass(args.error());
  RolesOptions out;
  for (const std::string& arg : *args) {
    const std::string value = arg.substr(arg.find('=') + 1);
    if (arg.starts_with("--feature-gates=")) {
      if (auto ok = out.managerGates.set(value); !ok) return pass(ok.error());
      continue;
    }
    auto rules = oneMachineConfig(value);
    if (!rules) return pass(rules.error());
    out.scheduler = *std::move(rules);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<frame::record::Subject>> mateSubject(const Session& session,
                                                            ReplayHouse& house) {
  auto options = optionsOf(session);
  if (!options) return pass(options.error());
  auto roles = allRoles(*options);
  const auto found = std::find_if(roles.begin(), roles.end(), [&](const NamedMate& one) {
    return one.records && "up/" + one.name == session.role;
  });
  if (found == roles.end())
    return invalid("{}: up has no such role that is recorded", session.role);
  return std::unique_ptr<frame::record::Subject>(
      std::make_unique<MateSubject>(std::move(found->make), house));
}

}  // namespace mangrove::up
