#include "up/manager_admission.h"

#include <fmt/core.h>

namespace mangrove::up {

namespace {

manager::Operation operationOf(apiserver::Operation operation) {
  switch (operation) {
    case apiserver::Operation::kCreate:
      return manager::Operation::kCreate;
    case apiserver::Operation::kUpdate:
      return manager::Operation::kUpdate;
    case apiserver::Operation::kDelete:
      return manager::Operation::kDelete;
    case apiserver::Operation::kConnect:
      return manager::Operation::kConnect;
  }
  return manager::Operation::kConnect;
}

std::optional<apiserver::Answer> answerOf(const std::optional<manager::Review>& refusal) {
  if (!refusal) return std::nullopt;
  return apiserver::answer::status(
      refusal->code, refusal->code == manager::kForbidden ? "Forbidden" : "Invalid",
      fmt::format("admission \"koord-manager\" denied the request: {}", refusal->message));
}

class ManagerAdmission final : public apiserver::AdmissionPlugin {
 public:
  explicit ManagerAdmission(std::shared_ptr<PictureSlot> slot)
      : slot_(std::move(slot)),
        handlers_(
            [slot = slot_] {
              auto picture = slot->now();
              return picture ? picture : std::make_shared<const manager::Surroundings>();
            },
            [slot = slot_](const manager::InProcessQuestion& question,
                           const manager::Notice& notice) { slot->tell(question, notice); }) {}
  std::string_view name() const override { return "koord-manager"; }

  void mutate(apiserver::AdmissionRequest& request, Done done) override {
    if (!slot_->now()) return done(std::nullopt);
    request.isForeign = true;
    done(answerOf(handlers_.mutate(questionOf(request), request.object, request.oldObject,
                                   request.warnings)));
  }
  void validate(apiserver::AdmissionRequest& request, Done done) override {
    if (!slot_->now()) return done(std::nullopt);
    done(answerOf(handlers_.validate(questionOf(request), request.object, request.oldObject,
                                     request.warnings)));
  }

 private:
  manager::InProcessQuestion questionOf(const apiserver::AdmissionRequest& request) {
    manager::InProcessQuestion question;
    question.uid = fmt::format("in-process-{}", ++asked_);
    question.group = request.resource->kind->group;
    question.version = request.resource->kind->version;
    question.resource = request.resource->kind->plural;
    question.kind = request.resource->kind->kind;
    question.subresource = request.subresource;
    question.operation = operationOf(request.operation);
    question.ns = request.ns;
    question.name = request.name;
    question.user = request.who.user;
    question.dryRun = request.dryRun;
    return question;
  }

  std::shared_ptr<PictureSlot> slot_;
  manager::InProcessAdmission handlers_;
  uint64_t asked_ = 0;
};

}  // namespace

void PictureSlot::lend(std::function<Picture()> now, Heard heard) {
  std::lock_guard lock(mutex_);
  now_ = std::move(now);
  heard_ = std::move(heard);
}

void PictureSlot::tell(const manager::InProcessQuestion& question,
                       const manager::Notice& notice) const {
  std::lock_guard lock(mutex_);
  if (heard_) heard_(question, notice);
}

PictureSlot::Picture PictureSlot::now() const {
  std::lock_guard lock(mutex_);
  return now_ ? now_() : nullptr;
}

std::unique_ptr<apiserver::AdmissionPlugin> managerAdmission(std::shared_ptr<PictureSlot> slot) {
  return std::make_unique<ManagerAdmission>(std::move(slot));
}

}  // namespace mangrove::up
