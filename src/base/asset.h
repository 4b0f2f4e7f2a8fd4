#pragma once
// A file that is part of the program. cmake/Embed.cmake puts them there and writes the function
// that lists them; the bytes live as long as the process and may be read from any thread.

#include <string_view>

namespace mangrove {

struct Asset {
  std::string_view name;   // the file's name without folders
  std::string_view bytes;  // as they were when the program was built
};

}  // namespace mangrove
