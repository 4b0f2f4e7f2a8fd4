#pragma once
// What tests of the server stand in for: an authorizer that lets everybody but "nobody" do
// everything, a client that keeps the answer, and a short way to look into it.

#include <memory>
#include <optional>
#include <string>

#include "apiserver/core/server.h"
#include "json/pointer.h"

namespace mangrove::apiserver {

class AllowEverything final : public Authorizer {
 public:
  Decision authorize(const Identity& who, const Attributes& what) override {
    return {who.user != "nobody" && what.verb != refused, ""};
  }
  std::string refused = "no verb at all";
};

class KeepAnswer final : public Responder {
 public:
  explicit KeepAnswer(std::shared_ptr<std::optional<Answer>> kept) : kept_(std::move(kept)) {}
  void answer(Answer a) override { *kept_ = std::move(a); }
  std::unique_ptr<AnswerStream> stream(Answer) override { return nullptr; }

 private:
  std::shared_ptr<std::optional<Answer>> kept_;
};

// The text or JSON at a place of the answer; "none" when it is not there.
inline std::string textAt(const Answer& answer, std::string_view pointer) {
  auto value = json::parse(answer.body);
  if (!value) return "no JSON: " + answer.body;
  const json::Value* found = json::find(*value, *json::Pointer::parse(pointer));
  if (!found) return "none";
  return found->is_string() ? std::string(std::string_view(found->get_string()))
                            : json::write(*found);
}

}  // namespace mangrove::apiserver
