#include "apiserver/admission/admission.h"

#include <functional>

namespace mangrove::apiserver {

namespace {

using Step = void (AdmissionPlugin::*)(AdmissionRequest&, AdmissionPlugin::Done);

// Asks one plugin after the other; each may answer at once or later.
void ask(const std::vector<std::unique_ptr<AdmissionPlugin>>& plugins, size_t next, Step step,
         AdmissionRequest& request, AdmissionPlugin::Done done) {
  if (next == plugins.size()) return done(std::nullopt);
  AdmissionPlugin& plugin = *plugins[next];
  (plugin.*step)(request, [&plugins, next, step, &request,
                           done = std::move(done)](std::optional<Answer> refusal) mutable {
    if (refusal) return done(std::move(refusal));
    ask(plugins, next + 1, step, request, std::move(done));
  });
}

}  // namespace

void AdmissionChain::mutate(AdmissionRequest& request, AdmissionPlugin::Done done) {
  ask(plugins_, 0, &AdmissionPlugin::mutate, request, std::move(done));
}

void AdmissionChain::validate(AdmissionRequest& request, AdmissionPlugin::Done done) {
  ask(plugins_, 0, &AdmissionPlugin::validate, request, std::move(done));
}

}  // namespace mangrove::apiserver
