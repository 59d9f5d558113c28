// The client as the editor runs it, with an editor that only notes what it is told.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');

/** An editor with a folder, and what was said to it. */
function editor(folder, trusted, setting) {
  const said = { errors: [], clients: [], commands: {}, listeners: [] };
  const disposable = { dispose() {} };
  const listen = (listener) => (said.listeners.push(listener), disposable);
  const vscode = {
    workspace: {
      isTrusted: trusted,
      workspaceFolders: [{ uri: { fsPath: folder } }],
      getConfiguration: () => ({ get: (name) => (name === 'path' ? setting : undefined) }),
      onDidChangeConfiguration: listen,
      onDidGrantWorkspaceTrust: listen,
    },
    window: { showErrorMessage: async (message) => void said.errors.push(message) },
    commands: { registerCommand: (name, run) => ((said.commands[name] = run), disposable), executeCommand: async () => {} },
    extensions: { getExtension: () => undefined },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { server, options, state: 'made' });
      said.clients.push(this);
    }
    async start() {
      this.state = 'started';
    }
    async stop() {
      this.state = 'stopped';
    }
  }
  return { said, modules: { vscode, 'vscode-languageclient/node': { LanguageClient, RevealOutputChannelOn: { Never: 4 } } } };
}

/** Loads the client among these modules. */
function load(modules) {
  const original = Module._load;
  Module._load = (request, ...rest) => modules[request] ?? original(request, ...rest);
  try {
    const file = require.resolve('../client/extension');
    delete require.cache[file];
    return require(file);
  } finally {
    Module._load = original;
  }
}

function workspace(context) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-client-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const program = path.join(folder, '.venv', 'bin', 'ptx-cli');
  fs.mkdirSync(path.dirname(program), { recursive: true });
  fs.writeFileSync(program, '', { mode: 0o755 });
  return { folder, program };
}

test('the client starts the program that it finds, and starts it anew', async (context) => {
  const { folder, program } = workspace(context);
  const { said, modules } = editor(folder, true, '');
  const extension = load(modules);
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(said.clients[0].server.run, { command: program, args: ['lsp'] });
  assert.ok(said.clients[0].options.documentSelector.some((each) => each.language === 'ptx'));
  await said.commands['ptx-cli.restart']();
  await said.listeners[0]({ affectsConfiguration: (name) => name === 'ptx-cli.path' });
  await said.commands['ptx-cli.restart']();
  assert.deepStrictEqual(said.clients.map((each) => each.state), ['stopped', 'stopped', 'stopped', 'started']);
  await extension.deactivate();
  assert.strictEqual(said.clients.at(-1).state, 'stopped');
  assert.deepStrictEqual(said.errors, []);
});

test('nothing of an untrusted folder is started, and what is missing is told', async (context) => {
  const { folder, program } = workspace(context);
  const { said, modules } = editor(folder, false, path.join(folder, 'gone', 'ptx-cli'));
  await load(modules).activate({ subscriptions: [] });
  assert.strictEqual(said.clients.length, 0);
  assert.match(said.errors[0], /gone.*ptx-cli\.path/s);
  assert.ok(!said.errors[0].includes(program));
});

test('the library that the client needs is there', () => {
  assert.ok(fs.existsSync(require.resolve('vscode-languageclient/node')));
});
