#include "manager/webhook/registrar.h"

#include <utility>

#include "base/os/log.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

}  // namespace

Registrar::Registrar(RegistrarSetup setup)
    : setup_(std::move(setup)),
      mutating_{client::kind::kMutatingWebhook, setup_.mutatingName, {}, {}, false, false, ""},
      validating_{
          client::kind::kValidatingWebhook, setup_.validatingName, {}, {}, false, false, ""} {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
  for (Side* side : {&mutating_, &validating_}) {
    follow(*side);
    if (setup_.metrics != nullptr)
      side->registered =
          setup_.metrics
              ->gauges("mangrove_manager_webhook_registered",
                       "1 while the webhook configuration exists and names us and our authority.",
                       {"configuration"})
              .with({side->name});
  }
}

Registrar::~Registrar() = default;

void Registrar::follow(Side& side) {
  client::InformerSetup setup;
  setup.client = setup_.client;
  setup.owner = setup_.owner;
  setup.home = setup_.home;
  setup.clock = setup_.clock;
  setup.follow.kind = side.kind;
  setup.follow.fieldSelector = "metadata.name=" + side.name;
  side.informer = std::make_unique<Informer>(std::move(setup));
  side.informer->onChange([this, &side](const client::Change<api::ObjectHead>&) { check(side); });
  side.informer->onSynced([this, &side] { check(side); });
}

void Registrar::start() {
  mutating_.informer->start();
  validating_.informer->start();
  arm();
}

void Registrar::arm() {
  timer_ = life_.later(*setup_.clock, *setup_.owner, setup_.period, [this] {
    checkAll();
    arm();
  });
}

void Registrar::announce(RegistrationFacts facts) {
  facts_ = std::move(facts);
  checkAll();
}

bool Registrar::settled() const {
  const auto quiet = [](const Side& side) {
    return side.informer->hasSynced() && !side.busy && (side.right || side.informer->size() == 0);
  };
  return quiet(mutating_) && quiet(validating_);
}

void Registrar::checkAll() {
  check(mutating_);
  check(validating_);
}

void Registrar::check(Side& side) {
  if (!facts_ || side.busy || !side.informer->hasSynced()) return;
  side.right = false;
  if (!side.informer->find(side.name)) return note(side, "is not installed; config/webhook has it");
  auto raw = side.informer->raw(side.name);
  if (!raw) return note(side, raw.error().text());
  auto present = json::parse(*raw);
  if (!present) return note(side, present.error().text());
  auto patch = registrationPatch(*present, *facts_);
  if (!patch) return note(side, patch.error().text());
  side.right = patch->is_null();
  note(side, "");
  if (!side.right) send(side, *patch);
}

void Registrar::send(Side& side, const json::Value& patch) {
  side.busy = true;
  auto request = client::patchRequest({side.kind, "", side.name}, client::PatchType::kMerge,
                                      json::write(patch), {.fieldManager = "mangrove-manager"});
  const auto heard = [this, &side](const Result<client::Reply>& reply) {
    side.busy = false;
    // A conflict means that a newer version is on its way to the informer.
    const bool lost = !reply && reply.error().code() == Code::kConflict;
    if (!reply && !lost) note(side, reply.error().text());
    if (reply) log.info("{} {} names us now", side.kind.kind, side.name);
  };
  setup_.client->submit(*setup_.owner, std::move(request), life_.guard(heard));
}

void Registrar::note(Side& side, std::string trouble) {
  side.registered.set(trouble.empty() ? 1 : 0);
  if (trouble == side.trouble) return;
  side.trouble = std::move(trouble);
  if (side.trouble.empty()) return;
  log.warn("{} {}: {}", side.kind.kind, side.name, side.trouble);
  if (setup_.events == nullptr) return;
  api::ObjectRef about;
  about.apiVersion = side.kind.apiVersion();
  about.kind = side.kind.kind;
  about.name = side.name;
  setup_.events->warning(about, "WebhookNotRegistered", side.trouble);
}

}  // namespace mangrove::manager
