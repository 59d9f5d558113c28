# To be sourced with a folder that does not exist as $1: from here on, whoever starts Rust's programs gets an error. All
# else stays on the PATH, for nobody knows where a machine has its Python and its git.
mkdir "$1"
for program in cargo rustc rustup; do
  printf '#!/bin/sh\necho "%s is hidden from this test" >&2\nexit 127\n' "$program" >"$1/$program"
  chmod +x "$1/$program"
done
export PATH=$1:$PATH
