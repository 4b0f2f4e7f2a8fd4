#pragma once
// Effects over an API server: bindings, conditions, deletions, events. Nothing waits: answers come
// back to the owner's mailbox.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "client/api_client.h"
#include "placement/engine/effects.h"
#include "scheduler/effects/answers.h"
#include "scheduler/effects/event_outbox.h"
#include "scheduler/effects/held_statuses.h"
#include "scheduler/effects/saving_first.h"
#include "scheduler/effects/write_order.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

class ApiEffects final : public Effects {
 public:
  ApiEffects(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
             Registry& metrics);
  ~ApiEffects() override;

  void bind(const PodInfo& pod, std::string_view node, const BindNotes& notes, Done done) override;
  void bindVolumes(const std::vector<VolumeNote>& notes, Done done) override;
  void scheduled(const api::Pod& pod, std::string_view node, std::string_view profile) override;
  void failed(const api::Pod& pod, const PodFailure& failure, std::string_view profile) override;
  void preempt(const api::Pod& victim, const api::Pod& preemptor, std::string_view profile,
               std::string_view loss, Done done) override;
  void evict(const api::Pod& pod, std::string_view reason, Done done) override;
  void clearNomination(const api::Pod& pod) override;
  void nominate(const api::Pod& pod, std::string_view node) override;
  void patch(const ObjectPatch& patch, Done done) override;
  void deviceTrouble(const api::Pod& pod, const std::string& what,
                     std::string_view profile) override;
  void overcommitted(const api::Pod& standIn, const std::string& what,
                     std::string_view profile) override;
  void ignored(const api::Pod& pod, const std::string& what, std::string_view profile) override;

  // Who can save is asked and waited for before it goes.
  void letVictimsSave() { savesFirst_ = true; }

  // Requests without an answer yet. They need the client and the owner's mailbox.
  size_t pending() const { return pending_; }
  // Nothing is under way, and no event waits for a quieter moment.
  bool idle() const { return pending_ == 0 && events_.idle(); }
  void onAnswer(std::function<void()> fn) { onAnswer_ = std::move(fn); }
  const std::shared_ptr<Answers>& answers() const { return answers_; }
  // Answers that wait for more of them, and statuses and events that waited; about once a second.
  void tick();
  // Statuses of waiting pods that are still to be written are given up: another one leads, and says
  // them anew.
  void dropStatuses() { held_.clear(); }

  // Statuses of waiting pods under way at the same time: beside bindings and whatever else there
  // is, and when there is nothing else.
  static constexpr size_t kStatusesBeside = 16;
  static constexpr size_t kMostStatuses = 128;

 private:
  template <class Make>
  void tell(std::string_view profile, Make make);
  void send(client::Request request, Answers::Done done);
  void findOut(const api::ObjectMeta& pod, const std::string& node, const Error& why, Done done);
  void create(const ObjectPatch& object, Done done);
  void sendPatch(const ObjectPatch& patch, Done done);
  void failedReservation(const api::Pod& pod, const PodFailure& failure);
  void patchStatus(const api::ObjectMeta& pod, std::string_view status, Done done);
  void writeStatuses();
  void preemptNow(const api::ObjectMeta& victim, std::string_view profile, Done done);
  void evictNow(const api::ObjectMeta& pod, std::string_view reason, Done done);

  client::ApiClient& client_;
  Clock& clock_;
  EventOutbox events_;
  SavingFirst saving_;
  bool savesFirst_ = false;
  HeldStatuses held_;
  WriteOrder order_;
  size_t pending_ = 0;
  size_t statuses_ = 0;  // among them, those of held_
  std::function<void()> onAnswer_ = [] {};
  std::shared_ptr<Answers> answers_;  // requests under way hold it too: answers may come after us
};

}  // namespace mangrove::scheduler
