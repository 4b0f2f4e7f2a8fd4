#pragma once
// A whole server on a store in memory, with the controllers of this folder and the built-in
// admission at work. Tests ask it like clients do.

#include <gtest/gtest.h>

#include "apiserver/admission/builtin_namespace.h"
#include "apiserver/admission/builtin_priority.h"
#include "apiserver/core/test_server.h"
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

class LifecycleTest : public testing::ServerFixture {
 protected:
  void SetUp() override {
    openStore();
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
    startServer();
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
  void settle() override {
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
  int statusOf(const std::string& target) { return ask("GET", target).status; }
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
  bool closed_ = false;  // config maps cannot be deleted
  std::optional<GarbageCollector> collector_;
  std::optional<NamespaceLifecycle> namespaces_;
  std::optional<CustomResources> custom_;
  std::optional<EventExpiry> expiry_;
};

}  // namespace mangrove::apiserver
