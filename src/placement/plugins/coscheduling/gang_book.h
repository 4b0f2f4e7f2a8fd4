#pragma once
// The books of gangs: who belongs to which gang, which members wait for the others at Permit, and
// what that means for the group of gangs that go together. Values in, answers out; whoever keeps
// the book lets pods pass, wait or go.
//
//   GangBook book(args);
//   book.put(podGroup);                       // settings, where an object gives them
//   book.see(pod);                            // pending, bound, finished …; also again
//   book.admit(uid)                           // may it stand in line? one of a group does
//   book.permit(uid)                          // it has a node: wait, or all go
//   book.unreserve(uid)                       // it lost its node: who else loses theirs
//
// A gang is ready when as many members as its minimum are there (pods that are gated or finished
// are not). Deleting the last pod ends a gang that pods describe, deleting the PodGroup one that it
// describes. Owner thread only.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::placement {

enum class MemberState : uint8_t { kPending, kWaiting, kBound, kFinished };

struct GangMember {
  api::Uid uid;
  std::string name;
  MemberState state = MemberState::kPending;
  bool isGated = false;
  bool isAllowed = false;  // waited, and may go
  bool isOwed = false;     // was let go with the others, but its binding came to nothing
  int32_t priority = 0;
  api::PodPhase phase = api::PodPhase::kUnset;
  std::string owners;   // "ns/name" of what owns it, joined by ","
  int64_t index = -1;   // its place in the job; -1: none given
  uint64_t number = 0;  // in the order they were seen
};

struct GangGroup {
  std::string id;
  bool onceSatisfied = false;
  std::set<std::string> waitingGangs;
  api::Uid representative;                // stands in line for all; empty: nobody
  std::unordered_set<api::Uid> together;  // whose bindings are one wave
};

struct Gang {
  std::string id;
  std::optional<GangSettings> settings;  // nullopt: nobody has said them yet
  std::unordered_map<api::Uid, GangMember> members;
  std::shared_ptr<GangGroup> group;

  int32_t count(MemberState state) const { return counts[static_cast<size_t>(state)]; }
  int32_t children() const;  // all that are not finished
  int32_t ready() const { return children() - gated; }
  bool isFull() const { return settings && ready() >= settings->min; }

  int32_t counts[4] = {};
  int32_t gated = 0;  // pending ones with gates
  int32_t held = 0;   // waiting ones that may not go yet
};

class GangBook {
 public:
  explicit GangBook(GangArgs args) : args_(std::move(args)) {}

  // ---- what there is
  void put(const api::PodGroup& group);
  void removeGroup(const std::string& id);
  // A pod of ours, new or changed; one without a gang is ignored.
  void see(const api::Pod& pod);
  void remove(const api::Uid& pod);

  // ---- the way of a pod
  enum class Admission : uint8_t { kPass, kUnknown, kNotEnough, kOtherRepresentative, kNotPending };
  Admission admit(const api::Uid& pod);
  struct Permit {
    bool isGang = false;  // false: nothing to wait for
    bool go = false;
    Duration wait{};                 // when not
    std::vector<api::Uid> released;  // who may go with it, in the order they came
  };
  Permit permit(const api::Uid& pod);
  // Who waits and loses its node because of that one.
  std::vector<api::Uid> unreserve(const api::Uid& pod);
  void bound(const api::Uid& pod);
  // How many are bound in one wave with this pod; nullopt: it goes alone.
  std::optional<int32_t> wave(const api::Uid& pod) const;

  // ---- questions
  const Gang* find(const std::string& id) const;
  const Gang* gangOf(const api::Uid& pod) const;
  const GangMember* member(const api::Uid& pod) const;
  const std::map<std::string, std::unique_ptr<Gang>>& gangs() const { return gangs_; }
  // The gangs of its group in their order, also those nobody has heard of (null).
  std::vector<const Gang*> groupOf(const Gang& gang) const;
  bool isReady(const Gang& gang) const;      // every gang of its group is
  bool isSatisfied(const Gang& gang) const;  // its members need not wait for each other any more
  // It need not wait for the others: the gang is satisfied, or the others went and only its own
  // binding was refused.
  bool goesAlone(const api::Uid& pod) const;
  bool isStrict(const Gang& gang) const;     // this gang is
  bool isAnyStrict(const Gang& gang) const;  // some gang of its group is
  // Pending members of the whole group that may be placed: by gang, index, priority, arrival.
  std::vector<const GangMember*> pending(const Gang& gang) const;
  std::vector<api::Uid> waiting(const Gang& gang) const;  // of the group, in the order they came
  void setRepresentative(const Gang& gang, const api::Uid& pod);
  size_t waitingGroups() const;  // counted only when somebody came to wait or stopped
  const GangArgs& args() const { return args_; }

 private:
  Gang& gangFor(const std::string& id);
  void describe(Gang& gang, GangSettings settings);
  void join(Gang& gang, const std::string& groupId);
  void set(Gang& gang, GangMember& member, MemberState state);
  void leave(Gang& gang, const GangMember& member);
  void release(Gang& gang, const api::Uid& pod, Permit& out);
  static bool isRest(const Gang& gang, const GangMember& member);
  void dropIfEmpty(const std::string& id);
  bool isValid(const Gang* gang, const GangGroup& group) const;
  void stopWaiting(Gang& gang);

  GangArgs args_;
  std::map<std::string, std::unique_ptr<Gang>> gangs_;
  std::map<std::string, std::weak_ptr<GangGroup>> groups_;
  std::unordered_map<api::Uid, std::string> gangOf_;
  std::set<std::string> objects_;  // gangs that a PodGroup describes
  uint64_t next_ = 1;
  mutable std::optional<size_t> waitingGroups_;  // nullopt: changed since it was counted
};

}  // namespace mangrove::placement
