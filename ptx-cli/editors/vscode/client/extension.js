// The client: it finds the program, starts `ptx-cli lsp`, and starts it anew when a setting or the environment changes.
'use strict';

const os = require('node:os');
const vscode = require('vscode');
const { LanguageClient, RevealOutputChannelOn } = require('vscode-languageclient/node');
const { find } = require('./find');

/** @type {LanguageClient | undefined} */
let client;
/** Starting and stopping are done one after the other. */
let queue = Promise.resolve();

/** The selected Python environment: an interpreter or a folder. */
async function python() {
  const extension = vscode.extensions.getExtension('ms-python.python');
  if (!extension) return undefined;
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    return api?.environments?.getActiveEnvironmentPath()?.path;
  } catch {
    return undefined;
  }
}

async function start() {
  const setting = vscode.workspace.getConfiguration('ptx-cli').get('path') ?? '';
  const folders = vscode.workspace.isTrusted
    ? (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath)
    : [];
  const environment = vscode.workspace.isTrusted ? await python() : undefined;
  const where = { setting, python: environment, folders, env: process.env, platform: process.platform, home: os.homedir() };
  const { program, tried } = find(where);
  if (!program) {
    const choice = await vscode.window.showErrorMessage(
      `ptx-cli was not found (looked in ${tried.join(', ')}). Install it, or name it in the setting "ptx-cli.path".`,
      'Open the setting',
    );
    if (choice) await vscode.commands.executeCommand('workbench.action.openSettings', 'ptx-cli.path');
    return;
  }
  const run = { command: program, args: ['lsp'] };
  client = new LanguageClient(
    'ptx-cli',
    'PTX Toolkit',
    { run, debug: run },
    {
      documentSelector: [
        { language: 'ptx' },
        { language: 'cuda-cpp' },
        { pattern: '**/*.{cu,cuh}' },
        { pattern: '**/ptx.toml' },
      ],
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    },
  );
  await client.start();
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

function restart() {
  const again = async () => {
    await stop();
    await start();
  };
  queue = queue.then(again).catch((error) => vscode.window.showErrorMessage(`ptx-cli: ${error.message ?? error}`));
  return queue;
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('ptx-cli.restart', restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('ptx-cli.path')) restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  const extension = vscode.extensions.getExtension('ms-python.python');
  if (extension?.isActive) {
    const changed = extension.exports?.environments?.onDidChangeActiveEnvironmentPath?.(restart);
    if (changed) context.subscriptions.push(changed);
  }
  await restart();
}

function deactivate() {
  return stop();
}

module.exports = { activate, deactivate };
