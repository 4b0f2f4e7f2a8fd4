#include "apiserver/schema/field_path.h"

namespace mangrove::apiserver {

std::string FieldPath::text() const {
  std::string out;
  appendTo(out);
  return out;
}

void FieldPath::appendTo(std::string& out) const {
  if (parent_ != nullptr) parent_->appendTo(out);
  switch (kind_) {
    case Kind::kRoot:
      break;
    case Kind::kMember:
      if (!out.empty()) out += '.';
      out += name_;
      break;
    case Kind::kKey:
      out += '[';
      out += name_;
      out += ']';
      break;
    case Kind::kIndex:
      out += '[';
      out += std::to_string(index_);
      out += ']';
      break;
  }
}

}  // namespace mangrove::apiserver
