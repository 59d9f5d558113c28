-- PTX in Neovim 0.11 or newer: copy this file to ~/.config/nvim/plugin/ptx.lua. `ptx-cli` has to be on the PATH.
-- CUDA C++ gets findings in its asm statements beside what clangd tells.

vim.filetype.add({ extension = { ptx = 'ptx' } })

vim.lsp.config('ptx', {
  cmd = { 'ptx-cli', 'lsp' },
  filetypes = { 'ptx', 'cuda' },
  root_markers = { 'ptx.toml', '.git' },
})
vim.lsp.enable('ptx')

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'ptx',
  callback = function(event)
    vim.bo[event.buf].commentstring = '// %s'
    vim.bo[event.buf].iskeyword = '@,48-57,_,$,%'
    vim.wo.foldmethod = 'expr'
    vim.wo.foldexpr = 'v:lua.vim.lsp.foldexpr()'
    vim.wo.foldlevel = 99
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'ptx' then
      vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
      vim.lsp.completion.enable(true, client.id, event.buf, { autotrigger = true })
    end
  end,
})

-- :PtxReport has the GPU's assembler tell registers and spills, which then stand behind each kernel's name.
vim.api.nvim_create_user_command('PtxReport', function()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0, name = 'ptx' })) do
    client:exec_cmd({ title = 'report', command = 'ptx-cli.report', arguments = { vim.uri_from_bufnr(0) } })
  end
end, { desc = 'Registers and spills of this PTX file' })
