# symtool.cmake: symbol files for crash reports, in a build by CMake 3.20 or later,
# with Ninja or make.
#
#   include(symtool.cmake)
#   symtool_add_symbols(app [SPLIT] [DUMP_FLAGS FLAG...] [LINT_FLAGS FLAG...])
#   symtool_add_all_symbols([SPLIT] ...)     every program and shared library so far
#                                            that has none yet
#   symtool_add_packages(name PACKAGE... [DUMP_FLAGS FLAG...])
#
# gives the targets
#
#   symtool-symbols  symtool/app.sym in the build folder
#   symtool-check    and lint them beside their binaries
#   symtool-store    and add them to SYMTOOL_STORE/NAME/ID/NAME.sym, each time: equal files
#                    there stay, and missing ones come back
#
# symtool_add_packages adds the symbols of packages (.deb, .rpm, .zip, ...) with those of
# their debug files to symtool-store. Binaries without debug information are reported, and
# DUMP_FLAGS --skip-no-debug-info leaves them out.
#
# and for each binary symtool-symbols-app, symtool-check-app and symtool-store-app. The short
# names symbols, check-symbols, store-symbols, app-symbols, app-check-symbols and
# app-store-symbols are the same targets, unless the project has others of these names.
# With SPLIT there are also symtool/stripped/app, the file to ship, and symtool/app.debug,
# and the symbols are made from these two.
# If a binary is linked again to the same bytes, its .sym is left alone. A library that is
# static in this build has no symbols of its own: what links it has them.

include_guard(GLOBAL)
if(CMAKE_VERSION VERSION_LESS 3.20)
  message(FATAL_ERROR "symtool.cmake needs CMake 3.20")
endif()
find_program(SYMTOOL_EXECUTABLE symtool DOC "symtool, which makes symbol files")
if(NOT SYMTOOL_EXECUTABLE)
  message(FATAL_ERROR "symtool is not found: set SYMTOOL_EXECUTABLE")
endif()
set(_SYMTOOL_LINKED "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$" CACHE INTERNAL "types of targets with symbols")
set(SYMTOOL_STORE "${CMAKE_BINARY_DIR}/symbols" CACHE PATH "the store of symtool-store")

function(symtool_add_symbols target)
  cmake_policy(SET CMP0116 NEW)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SPLIT" "" "DUMP_FLAGS;LINT_FLAGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "symtool_add_symbols: unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "${_SYMTOOL_LINKED}")
    message(STATUS "symtool: no symbols of ${target}, which is not linked (${type})")
    return()
  endif()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/symtool")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    string(APPEND dir "/$<CONFIG>")
  endif()
  set(sym "${dir}/${target}.sym")
  set(inputs "$<TARGET_FILE:${target}>")
  # Makefiles do not depend on the command lines in them, but on these files, which change with the flags.
  file(GENERATE OUTPUT "${sym}.flags" CONTENT "${arg_DUMP_FLAGS}\n")
  file(GENERATE OUTPUT "${sym}.lint-flags" CONTENT "${arg_LINT_FLAGS}\n")
  set(depends ${target} "${sym}.flags")

  if(arg_SPLIT)
    set(debug "${dir}/${target}.debug")
    set(stripped "${dir}/stripped/$<TARGET_FILE_NAME:${target}>")
    set(split "${dir}/${target}.split")
    add_custom_command(OUTPUT "${split}" BYPRODUCTS "${debug}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${dir}/stripped"
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${inputs} "${debug}"
      COMMAND ${CMAKE_OBJCOPY} --strip-unneeded "--add-gnu-debuglink=${debug}" ${inputs} "${stripped}"
      COMMAND ${CMAKE_COMMAND} -E touch "${split}"
      DEPENDS ${target} COMMENT "Splitting ${target}" VERBATIM)
    set(inputs "${stripped}" "${debug}")
    list(APPEND depends "${split}")
  endif()

  # Ninja checks whether an output has changed; make needs a file that does.
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(done "${sym}")
    set(outputs OUTPUT "${sym}")
    set(touch)
  else()
    set(done "${sym}.stamp")
    set(outputs OUTPUT "${done}" BYPRODUCTS "${sym}")
    set(touch COMMAND ${CMAKE_COMMAND} -E touch "${done}")
  endif()
  add_custom_command(${outputs}
    COMMAND ${CMAKE_COMMAND} -E make_directory "${dir}"
    COMMAND ${SYMTOOL_EXECUTABLE} dump --restat -MD -MF "${sym}.d" -MT "${done}"
      ${arg_DUMP_FLAGS} -o "${sym}" ${inputs}
    ${touch}
    DEPENDS ${depends} DEPFILE "${sym}.d" COMMENT "Dumping symbols of ${target}" VERBATIM)
  add_custom_command(OUTPUT "${sym}.checked"
    COMMAND ${SYMTOOL_EXECUTABLE} lint --verdict=false --stamp "${sym}.checked" ${arg_LINT_FLAGS} --binary "$<TARGET_FILE:${target}>" "${sym}"
    DEPENDS "${done}" "${sym}.lint-flags" COMMENT "Checking symbols of ${target}" VERBATIM)

  # The dependencies between the targets keep make from running a command twice.
  _symtool_target(symbols ${target} DEPENDS "${done}")
  _symtool_target(check ${target} DEPENDS "${sym}.checked")
  _symtool_target(store ${target} DEPENDS "${done}"
    COMMAND ${SYMTOOL_EXECUTABLE} store add --replace "${SYMTOOL_STORE}" "${sym}"
    COMMENT "Storing symbols of ${target}")
  add_dependencies(symtool-check-${target} symtool-symbols-${target})
  add_dependencies(symtool-store-${target} symtool-symbols-${target})
  set_property(GLOBAL APPEND PROPERTY SYMTOOL_TARGETS ${target})
endfunction()

function(symtool_add_packages name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DUMP_FLAGS")
  set(packages)
  foreach(package IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(package "${package}" ABSOLUTE)
    list(APPEND packages "${package}")
  endforeach()
  _symtool_target(store ${name} DEPENDS ${packages}
    COMMAND ${SYMTOOL_EXECUTABLE} dump --restat --accept no-debug-info --accept no-binaries
      ${arg_DUMP_FLAGS} --store "${SYMTOOL_STORE}" ${packages}
    COMMENT "Storing symbols of the packages ${name}")
endfunction()

# The arguments behind target are those of add_custom_target. A command runs each time.
function(_symtool_target action target)
  add_custom_target(symtool-${action}-${target} VERBATIM ${ARGN})
  if(NOT TARGET symtool-${action})
    add_custom_target(symtool-${action})
  endif()
  add_dependencies(symtool-${action} symtool-${action}-${target})
endfunction()

# Which short names are free is known when the whole project has been read.
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _symtool_short_names)

function(_symtool_short_names)
  _symtool_short_name(symbols symtool-symbols)
  _symtool_short_name(check-symbols symtool-check)
  _symtool_short_name(store-symbols symtool-store)
  get_property(targets GLOBAL PROPERTY SYMTOOL_TARGETS)
  foreach(target IN LISTS targets)
    _symtool_short_name(${target}-symbols symtool-symbols-${target})
    _symtool_short_name(${target}-check-symbols symtool-check-${target})
    _symtool_short_name(${target}-store-symbols symtool-store-${target})
  endforeach()
endfunction()

function(_symtool_short_name name target)
  if(TARGET ${target} AND NOT TARGET ${name})
    add_custom_target(${name})
    add_dependencies(${name} ${target})
  endif()
endfunction()

function(symtool_add_all_symbols)
  _symtool_binaries(binaries "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(target IN LISTS binaries)
    symtool_add_symbols(${target} ${ARGV})
  endforeach()
endfunction()

function(_symtool_binaries result dir)
  set(found)
  get_property(targets DIRECTORY "${dir}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "${_SYMTOOL_LINKED}" AND NOT TARGET symtool-symbols-${target})
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    _symtool_binaries(more "${folder}")
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
