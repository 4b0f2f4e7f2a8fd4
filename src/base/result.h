#pragma once
// Value-or-error, the only way a function says that the world did not play along.
//
//   Result<Bytes> memoryLimit(const CgroupDir& dir) {
//     auto text = dir.read(file::kMemoryMax);
//     if (!text) return text.error().in("memory limit of {}", dir.path());
//     return parseMaxOrBytes(*text);
//   }
//
// The message then reads outside-in: "memory limit of …/pod12: open memory.max: no such file".
// Errors are values: copy, store and send them between threads freely. Programmer errors are not
// Errors; they are CHECKs (check.h).

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <tl/expected.hpp>

namespace mangrove {

// What a caller may want to tell apart. Everything finer belongs in the sentence.
enum class Code {
  kInvalid,       // the input is wrong; trying again cannot help
  kNotFound,      // the named thing does not exist
  kExists,        // the named thing exists already
  kConflict,      // somebody else changed it first
  kDenied,        // known, but not permitted
  kUnauthorized,  // not known who asks
  kGone,          // existed, and the server forgot it (an expired watch position)
  kTooMany,       // asked too often; wait and try again
  kTooLarge,      // over a size limit
  kTimeout,       // no answer in time
  kUnavailable,   // cannot be reached or is not ready; trying again may help
  kCancelled,     // the caller gave up
  kUnsupported,   // this machine, kernel or server cannot do it
  kIo,            // an operating-system call failed
  kInternal,      // a broken promise of ours that must not end the process
};
const char* codeName(Code code);

class Error {
 public:
  Error(Code code, std::string sentence, int detail = 0)
      : code_(code), detail_(detail), clauses_{std::move(sentence)} {}

  Code code() const { return code_; }
  // errno for kIo, the HTTP status for answers of a server, otherwise 0.
  int detail() const { return detail_; }
  // The innermost clause alone, without the context added on the way out.
  const std::string& sentence() const { return clauses_.front(); }
  // All clauses outside-in, separated by ": ".
  std::string text() const;

  // The same failure seen from one level further out. Returns what a Result accepts.
  template <class... Args>
  tl::unexpected<Error> in(fmt::format_string<Args...> format, Args&&... args) const {
    return tl::unexpected<Error>(wrapped(fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  Error wrapped(std::string clause) const;

  Code code_;
  int detail_;
  std::vector<std::string> clauses_;  // innermost first
};

template <class T = void>
using Result = tl::expected<T, Error>;
using Failure = tl::unexpected<Error>;

template <class... Args>
Failure fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error(code, fmt::format(format, std::forward<Args>(args)...)));
}
// "invalid" is by far the most frequent: invalid("cpu limit '{}': want …", text).
template <class... Args>
Failure invalid(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::kInvalid, format, std::forward<Args>(args)...);
}
// "<what>: <strerror(errno)>", with the fitting code (ENOENT is kNotFound, EACCES kDenied, …).
Failure failErrno(int errnum, std::string what);
// Passes an error of one Result type on in another without changing it.
inline Failure pass(const Error& error) {
  return Failure(error);
}

}  // namespace mangrove
