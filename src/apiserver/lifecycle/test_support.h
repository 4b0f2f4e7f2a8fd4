#pragma once
// A whole server on a store in memory, with the controllers of this folder and the built-in
// admission at work. Tests ask it like clients do.

#include <gtest/gtest.h>

#include "apiserver/admission/builtin_namespace.h"
#include "apiserver/admission/builtin_priority.h"
#include "apiserver/core/test_doubles.h"
#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/event_expiry.h"
#include "apiserver/lifecycle/garbage_collector.h"
#include "apiserver/lifecycle/namespaces.h"
#include "apiserver/lifecycle/stored_fields.h"
#include "json/pointer.h"

namespace mangrove::apiserver {

// Refuses deletions while `closed`, as somebody's webhook may.
class Gate final : public AdmissionPlugin {
 public:
  explicit Gate(const bool& closed) : closed_(closed) {}
  std::string_view name() const override { return "Gate"; }
  void validate(AdmissionRequest& request, Done done) override {
    const bool refuses = closed_ && request.operation == Operation::kDelete &&
                         request.resource->kind->plural == "configmaps";
    done(refuses ? std::optional(answer::forbidden("the gate is closed")) : std::nullopt);
  }

 private:
  const bool& closed_;
};

class LifecycleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::Store::open({.dir = ""}, [this](Fn fn) { owner_.post(std::move(fn)); });
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
    admission_.add(std::make_unique<NamespaceAdmission>(*store_));
    admission_.add(std::make_unique<PriorityAdmission>(*store_));
    admission_.add(std::make_unique<Gate>(closed_));
    start();
  }
  void TearDown() override {
    settle();
    stop();
    store_.reset();
  }

  // As at the start of the process, on what the store holds.
  void start() {
    resources_ = Resources();
    context_.emplace(
        Context{clock_, owner_, *store_, resources_, admission_, authorizer_, metrics_, rng_});
    server_.emplace(*context_);
    collector_.emplace(*context_);
    namespaces_.emplace(*context_);
    custom_.emplace(*context_);
    expiry_.emplace(*context_);
    context_->observers = {&*custom_, &*namespaces_, &*collector_, &*expiry_};
    for (auto& spec : storedFields(resources_)) store_->declare(std::move(spec));
    namespaces_->install(*server_);
    custom_->recover();
    namespaces_->recover();
    collector_->recover();
    expiry_->recover();
    ensureNamespaces(*context_, kInitialNamespaces);
    settle();
  }
  void stop() {
    server_.reset();
    owner_.drain();
  }

  // Until nobody has anything left to do.
  void settle() {
    size_t idle = 0;
    while (idle < 3) {
      const size_t ran = owner_.drain();
      store_->flush();
      idle = ran == 0 ? idle + 1 : 0;
    }
  }
  void pass(Duration time) {
    clock_.advance(time);
    settle();
  }
  // Without waiting for the answer: what is sent until settle() goes to the store in one batch.
  using Heard = std::shared_ptr<std::optional<Answer>>;
  Heard send(const std::string& method, const std::string& target, std::string body = "",
             std::string type = "application/json") {
    auto heard = std::make_shared<std::optional<Answer>>();
    auto info = parseRequest(method, target);
    EXPECT_TRUE(info) << target;
    Call call{*info,
              Identity{"tester", "", {}, {}},
              std::move(body),
              std::move(type),
              "application/json",
              "test/1"};
    server_->handle(std::move(call), std::make_shared<KeepAnswer>(heard));
    return heard;
  }
  Answer ask(const std::string& method, const std::string& target, std::string body = "",
             std::string type = "application/json") {
    const Heard heard = send(method, target, std::move(body), std::move(type));
    settle();
    EXPECT_TRUE(heard->has_value()) << target;
    return heard->value_or(Answer{});
  }
  int statusOf(const std::string& target) { return ask("GET", target).status; }
  static std::string at(const Answer& answer, std::string_view pointer) {
    return textAt(answer, pointer);
  }
  // The status ("True", "False", "none") of a condition.
  static std::string condition(const Answer& answer, std::string_view type,
                               std::string_view member = "status") {
    auto value = json::parse(answer.body);
    const json::Value* list =
        value ? json::find(*value, *json::Pointer::parse("/status/conditions")) : nullptr;
    if (!list || !list->is_array()) return "none";
    for (const json::Value& one : list->get_array())
      if (one.at("type") == json::Value(type)) return std::string(one.at(member).as_string());
    return "none";
  }
  // A config map; answers its uid.
  std::string createMap(const std::string& name, const std::string& metadata = "") {
    auto made = ask("POST", kMaps, R"({"metadata":{"name":")" + name + "\"" + metadata + "}}");
    EXPECT_EQ(made.status, 201) << made.body;
    return at(made, "/metadata/uid");
  }
  static std::string owner(const std::string& name, const std::string& uid, bool blocks = false) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","name":")" + name + R"(","uid":")" + uid +
           R"(","blockOwnerDeletion":)" + (blocks ? "true}" : "false}");
  }
  static std::string ownedBy(const std::string& references) {
    return R"(,"ownerReferences":[)" + references + "]";
  }
  static std::string map(const std::string& name) { return std::string(kMaps) + "/" + name; }

  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
  VirtualClock clock_{WallTime(std::chrono::seconds(1'800'000'000))};
  Mailbox owner_;
  std::unique_ptr<store::Store> store_;
  Resources resources_;
  bool closed_ = false;  // config maps cannot be deleted
  AdmissionChain admission_;
  AllowEverything authorizer_;
  Registry metrics_;
  Rng rng_{1};
  std::optional<Context> context_;
  std::optional<Server> server_;
  std::optional<GarbageCollector> collector_;
  std::optional<NamespaceLifecycle> namespaces_;
  std::optional<CustomResources> custom_;
  std::optional<EventExpiry> expiry_;
};

}  // namespace mangrove::apiserver
