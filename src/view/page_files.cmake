# cmake -DFOLDER=... -DOUTPUT=... -P page_files.cmake: writes page_files() in C++, with the text files of the
# folder.
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(entries "")
foreach(name IN LISTS files)
  file(READ ${FOLDER}/${name} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  # One literal per line: compilers limit the length of a literal.
  string(REGEX REPLACE "(\\\\x0a)" "\\1\"\n     \"" bytes "${bytes}")
  string(LENGTH "${hex}" length)
  math(EXPR length "${length} / 2")
  string(APPEND entries "    {\"${name}\",\n     {\"${bytes}\",\n      ${length}}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"view/server.h\"

namespace satin::view {

std::span<const PageFile> page_files() {
  static constexpr PageFile files[] = {
${entries}  };
  return files;
}

}  // namespace satin::view
")
