# symtool.cmake: symbol files for crash reports, in a build by CMake 3.20 or later,
# with Ninja or make.
#
#   include(symtool.cmake)
#   symtool_add_symbols(app [SPLIT] [DUMP_FLAGS FLAG...] [LINT_FLAGS FLAG...])
#   symtool_add_all_symbols([SPLIT] ...)     every program and shared library so far
#
# gives the targets
#
#   symbols          symtool/app.sym in the build folder
#   check-symbols    and lint them beside their binaries
#   store-symbols    and write them to SYMTOOL_STORE/NAME/ID/NAME.sym
#
# and for each binary app-symbols, app-check-symbols and app-store-symbols. With SPLIT
# there are also symtool/stripped/app, the file to ship, and symtool/app.debug, and the
# symbols are made from these two.
# If a binary is linked again to the same bytes, its .sym is left alone.

include_guard(GLOBAL)
if(CMAKE_VERSION VERSION_LESS 3.20)
  message(FATAL_ERROR "symtool.cmake needs CMake 3.20")
endif()
find_program(SYMTOOL_EXECUTABLE symtool DOC "symtool, which makes symbol files")
if(NOT SYMTOOL_EXECUTABLE)
  message(FATAL_ERROR "symtool is not found: set SYMTOOL_EXECUTABLE")
endif()
set(SYMTOOL_STORE "${CMAKE_BINARY_DIR}/symbols" CACHE PATH "the store of store-symbols")

function(symtool_add_symbols target)
  cmake_policy(SET CMP0116 NEW)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SPLIT" "" "DUMP_FLAGS;LINT_FLAGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "symtool_add_symbols: unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/symtool")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    string(APPEND dir "/$<CONFIG>")
  endif()
  set(sym "${dir}/${target}.sym")
  set(inputs "$<TARGET_FILE:${target}>")
  set(depends ${target})

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
    DEPENDS "${done}" COMMENT "Checking symbols of ${target}" VERBATIM)
  add_custom_command(OUTPUT "${sym}.stored"
    COMMAND ${SYMTOOL_EXECUTABLE} dump --restat ${arg_DUMP_FLAGS} --store "${SYMTOOL_STORE}" "$<TARGET_FILE:${target}>"
    COMMAND ${CMAKE_COMMAND} -E touch "${sym}.stored"
    DEPENDS "${done}" COMMENT "Storing symbols of ${target}" VERBATIM)

  # The dependencies between the targets keep make from running a command twice.
  _symtool_target(symbols ${target} "${done}")
  _symtool_target(check-symbols ${target} "${sym}.checked")
  _symtool_target(store-symbols ${target} "${sym}.stored")
  add_dependencies(${target}-check-symbols ${target}-symbols)
  add_dependencies(${target}-store-symbols ${target}-symbols)
endfunction()

function(_symtool_target all target file)
  add_custom_target(${target}-${all} DEPENDS "${file}")
  if(NOT TARGET ${all})
    add_custom_target(${all})
  endif()
  add_dependencies(${all} ${target}-${all})
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
    if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
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
