#pragma once
// Recordings made small: objects come again and again with little changed, so a window of the last
// megabyte makes a recording a fortieth of its size. What was packed can be unpacked without
// what follows, so that a killed process leaves all but its last second.
//
//   Packer packer;
//   file.append(packer.pack(bytes));              // … as often as there is something
//   file.append(packer.end());                    // of a file; the next pack() begins another
//   Unpacker unpacker;
//   unpacker.unpack(someOfTheFile, out);          // false: this was not packed by a Packer
//
// One thread each.

#include <memory>
#include <string>
#include <string_view>

namespace mangrove::frame::record {

class Packer {
 public:
  Packer();
  ~Packer();
  std::string pack(std::string_view bytes);
  std::string end();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Whether a file that begins like this was packed.
bool isPacked(std::string_view beginning);

class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  // Appends to `out` as much as can be read so far.
  bool unpack(std::string_view packed, std::string& out);
  bool isEnded() const { return ended_; }  // Packer::end() was the last that came

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  bool ended_ = false;
};

}  // namespace mangrove::frame::record
