#include "apiserver/subresources/admit.h"

#include "base/check.h"

namespace mangrove::apiserver {

namespace {

class WarningResponder final : public Responder {
 public:
  WarningResponder(std::vector<std::string> warnings, ResponderPtr to)
      : warnings_(std::move(warnings)), to_(std::move(to)) {}
  void answer(Answer a) override {
    a.warnings.insert(a.warnings.end(), warnings_.begin(), warnings_.end());
    to_->answer(std::move(a));
  }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    return to_->stream(std::move(head));
  }

 private:
  std::vector<std::string> warnings_;
  ResponderPtr to_;
};

struct Admission {
  AdmissionRequest request;
  ResponderPtr to;
  Admitted then;

  ResponderPtr back() {
    if (request.warnings.empty()) return to;
    return std::make_shared<WarningResponder>(std::move(request.warnings), to);
  }
};

}  // namespace

AdmissionRequest partOfPod(const Context& context, const Call& call, std::string_view name,
                           json::Object object, std::string_view apiVersion,
                           std::string_view kind) {
  AdmissionRequest out;
  out.resource = context.resources.find("", "v1", "pods");
  CHECK(out.resource, "the tables lack pods");
  out.operation = Operation::kCreate;
  out.ns = call.info.ns;
  out.name = name;
  out.who = call.who;
  object["apiVersion"] = apiVersion;
  object["kind"] = kind;
  out.object = std::move(object);
  return out;
}

void admitPart(Context& context, AdmissionRequest request, ResponderPtr to, Admitted then) {
  auto run =
      std::make_shared<Admission>(Admission{std::move(request), std::move(to), std::move(then)});
  context.admission.mutate(run->request, [run, &context](std::optional<Answer> refusal) {
    if (refusal) return run->back()->answer(std::move(*refusal));
    context.admission.validate(run->request, [run](std::optional<Answer> no) {
      if (no) return run->back()->answer(std::move(*no));
      run->then(std::move(run->request.object), run->back());
    });
  });
}

void admitConnect(Context& context, const Call& call, const ResourcePtr& resource,
                  json::Value options, ResponderPtr to, UniqueFn<void(ResponderPtr)> then) {
  AdmissionRequest request;
  request.resource = resource;
  request.subresource = call.info.subresource.substr(0, call.info.subresource.find('/'));
  request.operation = Operation::kConnect;
  request.ns = call.info.ns;
  request.name = call.info.name;
  request.who = call.who;
  request.object = std::move(options);
  ResponderPtr plain = to;
  admitPart(context, std::move(request), std::move(to),
            [plain = std::move(plain), then = std::move(then)](json::Value, ResponderPtr) mutable {
              then(std::move(plain));
            });
}

}  // namespace mangrove::apiserver
