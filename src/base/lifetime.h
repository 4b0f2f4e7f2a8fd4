#pragma once
// Lets callbacks that wait elsewhere (timers, answers, posted messages) notice that their owner has
// gone.
//
//   class Keeper {
//     void arm() { timer_ = life_.later(clock_, owner_, 1s, [this] { look(); }); }
//     void ask() {
//       client_.submit(owner_, request, life_.guard([this](auto reply) { heard(reply); }));
//     }
//     Lifetime life_;
//   };
//
// The owner dies in the thread in which guarded functions run: only then is "still here" true for
// as long as they last. Tokens may be copied and destroyed in any thread.

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/mailbox.h"

namespace mangrove {

class Lifetime {
 public:
  class Token {
   public:
    bool gone() const { return here_.expired(); }
    // `fn` while the owner lives, nothing afterwards.
    template <class F>
    auto guard(F fn) const {
      return [here = here_, fn = std::move(fn)](auto&&... args) mutable {
        if (!here.expired()) fn(std::forward<decltype(args)>(args)...);
      };
    }

   private:
    friend class Lifetime;
    explicit Token(const std::shared_ptr<const char>& here) : here_(here) {}
    std::weak_ptr<const char> here_;
  };

  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  Token token() const { return Token(here_); }
  template <class F>
  auto guard(F fn) const {
    return token().guard(std::move(fn));
  }
  // After a while, in the owner's thread, if we are still there.
  template <class F>
  [[nodiscard]] Timer later(Clock& clock, Mailbox& owner, Duration delay, F fn) const {
    return clock.after(delay, [here = token(), owner = &owner, fn = std::move(fn)]() mutable {
      owner->post(here.guard(std::move(fn)));
    });
  }
  // Early: from now on nothing guarded runs.
  void end() { here_.reset(); }

 private:
  std::shared_ptr<const char> here_ = std::make_shared<char>();
};

}  // namespace mangrove
