//! What the editor and the server agree on.

use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, DiagnosticOptions,
    DiagnosticServerCapabilities, ExecuteCommandOptions, FoldingRangeProviderCapability,
    HoverProviderCapability, InitializeParams, OneOf, PositionEncodingKind, RenameOptions,
    SemanticTokensFullOptions, SemanticTokensOptions, SemanticTokensServerCapabilities, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use super::actions::{FIX_ALL, REPORT};
use super::convert::SOURCE;
use super::lines::Encoding;
use super::{reports, semantic};

/// How far the editor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not said `initialize`.
    #[default]
    Before,
    /// It has.
    Open,
    /// It has said `shutdown`.
    Shut,
}

/// What is agreed on with the editor.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    pub phase: Phase,
    pub encoding: Encoding,
    /// Whether it watches files for the server.
    pub watches: bool,
    /// Whether its edits can name the version that they are for.
    pub versioned: bool,
    /// Whether it shows symbols as a tree.
    pub shows_trees: bool,
    /// Whether it asks for findings, so that they need not be sent to it.
    pub pulls: bool,
    /// Whether it can be told to ask for findings again.
    pub refreshes_findings: bool,
    /// Whether it can be told to ask for inlay hints again.
    pub refreshes_hints: bool,
}

impl Default for Session {
    fn default() -> Self {
        let (phase, encoding) = (Phase::Before, Encoding::Utf16);
        Self {
            phase,
            encoding,
            watches: false,
            versioned: false,
            shows_trees: false,
            pulls: false,
            refreshes_findings: false,
            refreshes_hints: false,
        }
    }
}

impl Session {
    pub fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let encodings = general.and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
        let workspace = capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let document = capabilities.text_document.as_ref();
        let symbols = document.and_then(|document| document.document_symbol.as_ref());
        Self {
            phase: Phase::Open,
            // Bytes where the editor can count them, else the protocol's default.
            encoding: match encodings.contains(&PositionEncodingKind::UTF8) {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            watches: watched.and_then(|watched| watched.dynamic_registration).unwrap_or_default(),
            versioned: edits.and_then(|edits| edits.document_changes).unwrap_or_default(),
            shows_trees: symbols
                .and_then(|symbols| symbols.hierarchical_document_symbol_support)
                .unwrap_or_default(),
            pulls: document.is_some_and(|document| document.diagnostic.is_some()),
            refreshes_findings: workspace
                .and_then(|workspace| workspace.diagnostic.as_ref()?.refresh_support)
                .unwrap_or_default(),
            refreshes_hints: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)
                .unwrap_or_default(),
        }
    }

    /// What the server tells that it can do.
    pub fn capabilities(&self) -> ServerCapabilities {
        let letters = |letters: &[&str]| Some(letters.iter().map(|&letter| letter.to_owned()).collect());
        let (code_actions, rename) = (
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL, REPORT]),
                ..CodeActionOptions::default()
            },
            RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            },
        );
        ServerCapabilities {
            position_encoding: Some(match self.encoding {
                Encoding::Utf8 => PositionEncodingKind::UTF8,
                Encoding::Utf16 => PositionEncodingKind::UTF16,
            }),
            text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            document_highlight_provider: Some(OneOf::Left(true)),
            rename_provider: Some(OneOf::Right(rename)),
            document_symbol_provider: Some(OneOf::Left(true)),
            workspace_symbol_provider: Some(OneOf::Left(true)),
            folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
            completion_provider: Some(CompletionOptions {
                trigger_characters: letters(&[".", "%", "@", ":"]),
                ..CompletionOptions::default()
            }),
            signature_help_provider: Some(SignatureHelpOptions {
                trigger_characters: letters(&[" ", ","]),
                ..SignatureHelpOptions::default()
            }),
            document_formatting_provider: Some(OneOf::Left(true)),
            document_range_formatting_provider: Some(OneOf::Left(true)),
            semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
                SemanticTokensOptions {
                    legend: semantic::legend(),
                    range: Some(true),
                    full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
                    ..SemanticTokensOptions::default()
                },
            )),
            inlay_hint_provider: Some(OneOf::Left(true)),
            diagnostic_provider: self.pulls.then(|| {
                DiagnosticServerCapabilities::Options(DiagnosticOptions {
                    identifier: Some(SOURCE.to_owned()),
                    ..DiagnosticOptions::default()
                })
            }),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![reports::COMMAND.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            code_action_provider: Some(CodeActionProviderCapability::Options(code_actions)),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                    supported: Some(true),
                    change_notifications: Some(OneOf::Left(true)),
                }),
                file_operations: None,
            }),
            ..ServerCapabilities::default()
        }
    }
}
