#pragma once
// The handlers without a network, for an API server in the same process: it asks once before an
// object is completed and once before it is stored, as it would ask webhooks.
//
//   InProcessAdmission admission([&] { return picture.now(); });
//   if (auto refusal = admission.mutate(question, object)) return denied(*refusal);   // may change
//   it if (auto refusal = admission.validate(question, object, oldObject)) return denied(*refusal);
//
// Any thread, as far as the picture's functions allow it; one question at a time per instance.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Everything of an AdmissionRequest but the objects.
struct InProcessQuestion {
  std::string uid;
  std::string group, version, resource, subresource, kind;
  Operation operation = Operation::kCreate;
  std::string ns, name, user;
  bool dryRun = false;
};

class InProcessAdmission {
 public:
  using Picture = std::function<std::shared_ptr<const Surroundings>()>;
  // `heard` gets the notices of every review, for Events; may be empty.
  explicit InProcessAdmission(
      Picture picture, std::function<void(const InProcessQuestion&, const Notice&)> heard = {});

  // nullopt: go on. Warnings are appended. Objects that no handler wants cost nothing.
  std::optional<Review> mutate(const InProcessQuestion& question, json::Value& object,
                               const json::Value& oldObject, std::vector<std::string>& warnings);
  std::optional<Review> validate(const InProcessQuestion& question, const json::Value& object,
                                 const json::Value& oldObject, std::vector<std::string>& warnings);

 private:
  // `target` is where patches go, the object itself; null for validating handlers, which send none.
  std::optional<Review> run(const InProcessQuestion& question, const json::Value& object,
                            json::Value* target, const json::Value& oldObject,
                            std::vector<std::string>& warnings);
  Picture picture_;
  std::function<void(const InProcessQuestion&, const Notice&)> heard_;
};

}  // namespace mangrove::manager
