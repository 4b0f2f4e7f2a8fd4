#pragma once
// "Where would it go, now, with these others moved?" — answered by the scheduler's own rules
// (src/placement), never by a copy of them. The descheduler asks through this seam; what is behind
// it is injected, so that plugins and tests do not care.
//
//   Place place = whereto.ask(pod);
//   if (place.outcome == Place::Outcome::kPlaceable) whereto.take(pod, place.node);
//
// One Whereto serves one plan: what was taken stays taken for the questions after it, so that two
// pods of a plan never count on the same hole. One thread.

#include <string>
#include <string_view>

#include "api/pod/pod.h"

namespace mangrove::descheduler {

struct Place {
  // kUnknown: nobody can say, because the pod's scheduler is not ours or no answer is wired up. Such
  // a move is never called proven.
  enum class Outcome { kPlaceable, kNotPlaceable, kUnknown } outcome = Outcome::kUnknown;
  std::string node;  // kPlaceable
  std::string why;   // otherwise
};

class Whereto {
 public:
  virtual ~Whereto() = default;
  // With the pod gone from its node and that node excluded.
  virtual Place ask(const api::Pod& pod) = 0;
  virtual void take(const api::Pod& pod, std::string_view node) = 0;
};

// For when proof is not asked for.
class NobodyKnows final : public Whereto {
 public:
  Place ask(const api::Pod&) override {
    return {Place::Outcome::kUnknown, "", "moves are not proven in this configuration"};
  }
  void take(const api::Pod&, std::string_view) override {}
};

}  // namespace mangrove::descheduler
