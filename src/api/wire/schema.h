#pragma once
// One table per struct from which it is both read (decode.h) and written (write.h), so that the two
// cannot drift apart. Tables live in the .cc file; the header only declares the two functions.
//
//   // device.h
//   struct VirtualFunction { int32_t minor = 0; std::string busId; };
//   bool read(const In& in, VirtualFunction& out);
//   json::Value toJson(const VirtualFunction& value);
//
//   // device.cc
//   static constexpr Schema kVirtualFunction{
//       always<&VirtualFunction::minor>("minor"),          // written even when 0
//       unlessUnset<&VirtualFunction::busId>("busID"),     // Go's omitempty
//   };
//   bool read(const In& in, VirtualFunction& out) { return kVirtualFunction.read(in, out); }
//   json::Value toJson(const VirtualFunction& value) { return kVirtualFunction.write(value); }
//
// A struct that embeds another one reads and writes both with the same object: see writeInto.

#include <string_view>
#include <tuple>

#include "api/wire/decode.h"
#include "api/wire/write.h"

namespace mangrove::api {

template <auto Pointer>
struct SchemaMember {
  static constexpr auto kPointer = Pointer;
  std::string_view key;
  bool isAlways;
};

template <auto Pointer>
constexpr SchemaMember<Pointer> always(std::string_view key) {
  return {key, true};
}
template <auto Pointer>
constexpr SchemaMember<Pointer> unlessUnset(std::string_view key) {
  return {key, false};
}

template <class First, class... Rest>
class Schema {
 public:
  using T = decltype(detail::ownerOf(First::kPointer));

  constexpr Schema(First first, Rest... rest)
      : members_(first, rest...),
        fields_(field<First::kPointer>(first.key), field<Rest::kPointer>(rest.key)...) {}

  bool read(const In& in, T& out) const { return fields_.read(in, out); }

  json::Value write(const T& value) const {
    json::Object out;
    writeInto(out, value);
    return out;
  }
  void writeInto(json::Object& out, const T& value) const {
    std::apply([&](const auto&... member) { (writeOne(out, value, member), ...); }, members_);
  }

 private:
  template <class Member>
  static void writeOne(json::Object& out, const T& value, const Member& member) {
    const auto& part = value.*Member::kPointer;
    if (member.isAlways || !isUnset(part)) out[member.key] = toJson(part);
  }

  std::tuple<First, Rest...> members_;
  Fields<T, 1 + sizeof...(Rest)> fields_;
};

}  // namespace mangrove::api
