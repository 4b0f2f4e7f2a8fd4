# mangrove_embed(TARGET FUNCTION files...)
#
# Makes files part of a library. FUNCTION is a qualified name such as mangrove::apiserver::kindTableAssets; declare it in a
# header as `std::span<const Asset> kindTableAssets();` (base/asset.h). The assembler includes the bytes, so that size costs
# no compile time; changing a file rebuilds one small object.
function(mangrove_embed TARGET FUNCTION)
  string(REGEX REPLACE "::[^:]*$" "" namespace ${FUNCTION})
  string(REGEX REPLACE "^.*::" "" name ${FUNCTION})
  set(paths "")
  set(labels "")
  set(externs "")
  set(entries "")
  set(index 0)
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(base ${file} NAME)
    set(symbol "mangrove_asset_${name}_${index}")
    string(APPEND labels "    \"${symbol}: .incbin \\\"${path}\\\"\\n${symbol}_end: .byte 0\\n\"\n")
    string(APPEND externs "extern \"C\" const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND entries "      {\"${base}\", {${symbol}, static_cast<size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND paths ${path})
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/embed/${name}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Written by cmake/Embed.cmake.
#include <cstddef>
#include <span>

#include \"base/asset.h\"

asm(\".section .rodata\\n\"
@labels@    \".text\\n\");
@externs@
namespace @namespace@ {

std::span<const Asset> @name@() {
  static const Asset kAssets[] = {
@entries@  };
  return kAssets;
}

}  // namespace @namespace@
")
  set_property(SOURCE ${source} PROPERTY OBJECT_DEPENDS "${paths}")
  target_sources(${TARGET} PRIVATE ${source})
endfunction()
