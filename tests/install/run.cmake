# run(COMMAND...): fails with the command and what it said. run_clean(COMMAND...): the same with nothing of this
# environment: no CUDA on the path, no folder of this build, no GPU.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_clean)
  run(env -i PATH=/usr/bin:/bin HOME=/nonexistent CUDA_VISIBLE_DEVICES= ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

# embed(PREFIX FOLDER OPTION...): builds and runs samples/embed against what is installed in PREFIX.
function(embed prefix folder)
  run_clean(${CMAKE_COMMAND} -S ${EMBED} -B ${folder} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
            -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON ${ARGN})
  run_clean(${CMAKE_COMMAND} --build ${folder} -j 2)
  run_clean(${CMAKE_CTEST_COMMAND} --test-dir ${folder} --output-on-failure --no-tests=error)
endfunction()
