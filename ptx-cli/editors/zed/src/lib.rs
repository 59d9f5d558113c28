//! Zed's part of the language server: where the program is.

use zed_extension_api::{self as zed, LanguageServerId, Result, Worktree, settings::LspSettings};

struct Ptx;

impl zed::Extension for Ptx {
    fn new() -> Self {
        Self
    }

    /// The program that the settings name at `lsp.ptx-cli.binary`, else the first on the path.
    fn language_server_command(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<zed::Command> {
        let binary =
            LspSettings::for_worktree(id.as_ref(), worktree).ok().and_then(|settings| settings.binary);
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path.or_else(|| worktree.which("ptx-cli")).ok_or(
            "ptx-cli is not on the PATH; install it, or name it in the settings at `lsp.ptx-cli.binary.path`",
        )?;
        let args = arguments.unwrap_or_else(|| vec!["lsp".to_owned()]);
        Ok(zed::Command { command, args, env: worktree.shell_env() })
    }
}

zed::register_extension!(Ptx);
