#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace mangrove {

const char* codeName(Code code) {
  switch (code) {
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not found";
    case Code::kExists:
      return "exists";
    case Code::kConflict:
      return "conflict";
    case Code::kDenied:
      return "denied";
    case Code::kUnauthorized:
      return "unauthorized";
    case Code::kGone:
      return "gone";
    case Code::kTooMany:
      return "too many requests";
    case Code::kTooLarge:
      return "too large";
    case Code::kTimeout:
      return "timeout";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kCancelled:
      return "cancelled";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kIo:
      return "i/o";
    case Code::kInternal:
      return "internal";
  }
  return "unknown";
}

std::string Error::text() const {
  std::string out;
  for (auto it = clauses_.rbegin(); it != clauses_.rend(); ++it) {
    if (!out.empty()) out += ": ";
    out += *it;
  }
  return out;
}

Error Error::wrapped(std::string clause) const {
  Error outer = *this;
  outer.clauses_.push_back(std::move(clause));
  return outer;
}

namespace {

Code codeOfErrno(int errnum) {
  switch (errnum) {
    case ENOENT:
    case ENODEV:
      return Code::kNotFound;
    case EEXIST:
      return Code::kExists;
    case EACCES:
    case EPERM:
      return Code::kDenied;
    case ETIMEDOUT:
      return Code::kTimeout;
    case ECANCELED:
      return Code::kCancelled;
    case EOPNOTSUPP:
    case ENOSYS:
      return Code::kUnsupported;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return Code::kUnavailable;
    default:
      return Code::kIo;
  }
}

}  // namespace

Failure failErrno(int errnum, std::string what) {
  std::string reason = std::generic_category().message(errnum);
  return Failure(Error(codeOfErrno(errnum), what + ": " + reason, errnum));
}

}  // namespace mangrove
