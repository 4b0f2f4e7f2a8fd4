#pragma once
// A move-only callable: what std::move_only_function will be once the compiler has it. Work that
// travels between threads owns what it captured (unique_ptr, promises), which std::function cannot
// carry.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace mangrove {

template <class Signature>
class UniqueFn;

template <class R, class... Args>
class UniqueFn<R(Args...)> {
 public:
  UniqueFn() = default;
  UniqueFn(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, UniqueFn> && std::is_invocable_r_v<R, F&, Args...>)
  UniqueFn(F&& callable)
      : body_(std::make_unique<Body<std::decay_t<F>>>(std::forward<F>(callable))) {}

  explicit operator bool() const { return body_ != nullptr; }
  R operator()(Args... args) { return body_->call(std::forward<Args>(args)...); }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Body final : Callable {
    explicit Body(F f) : fn(std::move(f)) {}
    R call(Args... args) override { return fn(std::forward<Args>(args)...); }
    F fn;
  };
  std::unique_ptr<Callable> body_;
};

using Fn = UniqueFn<void()>;

}  // namespace mangrove
