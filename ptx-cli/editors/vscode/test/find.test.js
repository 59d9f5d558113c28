// Where the client looks for the program.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { find } = require('../client/find');

/** A folder with programs in it. */
function scratch(context, programs) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-find-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  for (const program of programs) {
    const file = path.join(folder, program);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  }
  return (...parts) => path.join(folder, ...parts);
}

const where = (more) => ({ env: {}, platform: 'linux', home: '', ...more });

test('the setting comes first, and nothing takes its place', (context) => {
  const at = scratch(context, ['own/ptx-cli', 'path/ptx-cli', 'path/ptx-other']);
  const env = { PATH: at('path') };
  assert.strictEqual(find(where({ setting: at('own/ptx-cli'), env })).program, at('own/ptx-cli'));
  assert.strictEqual(find(where({ setting: at('gone/ptx-cli'), env })).program, undefined);
  assert.strictEqual(find(where({ setting: 'ptx-other', env })).program, at('path/ptx-other'));
  assert.strictEqual(find(where({ setting: 'own/ptx-cli', folders: [at()], env })).program, at('own/ptx-cli'));
  assert.strictEqual(find(where({ setting: '~/own/ptx-cli', home: at(), env })).program, at('own/ptx-cli'));
  const folder = '${workspaceFolder}/own/ptx-cli';
  assert.strictEqual(find(where({ setting: folder, folders: [at()], env })).program, at('own/ptx-cli'));
});

test('then Python environments, then the path, then where installers put it', (context) => {
  const at = scratch(context, [
    'env/bin/ptx-cli', 'env/bin/python', 'work/.venv/bin/ptx-cli', 'conda/bin/ptx-cli', 'path/ptx-cli',
    'home/.cargo/bin/ptx-cli',
  ]);
  const all = {
    python: at('env/bin/python'),
    folders: [at('work')],
    env: { VIRTUAL_ENV: at('env'), CONDA_PREFIX: at('conda'), PATH: `/nowhere:${at('path')}` },
    home: at('home'),
  };
  const steps = [
    [{}, 'env/bin/ptx-cli'],
    [{ python: at('env') }, 'env/bin/ptx-cli'],
    [{ python: at('gone') }, 'work/.venv/bin/ptx-cli'],
    [{ python: undefined, folders: [] }, 'env/bin/ptx-cli'],
    [{ python: undefined, folders: [], env: { CONDA_PREFIX: at('conda'), PATH: at('path') } }, 'conda/bin/ptx-cli'],
    [{ python: undefined, folders: [], env: { PATH: `/nowhere:${at('path')}` } }, 'path/ptx-cli'],
    [{ python: undefined, folders: [], env: {} }, 'home/.cargo/bin/ptx-cli'],
  ];
  for (const [more, expected] of steps) {
    assert.strictEqual(find(where({ ...all, ...more })).program, at(expected), JSON.stringify(more));
  }
  const nowhere = find(where({ env: { PATH: at('home') } }));
  assert.strictEqual(nowhere.program, undefined);
  assert.deepStrictEqual(nowhere.tried, ['the PATH']);
});

test('a folder and a file that cannot be run are no programs', (context) => {
  const at = scratch(context, ['a/ptx-cli/file', 'b/ptx-cli']);
  fs.chmodSync(at('b/ptx-cli'), 0o644);
  assert.strictEqual(find(where({ env: { PATH: `${at('a')}:${at('b')}` } })).program, undefined);
  const windows = find(where({ platform: 'win32', env: { Path: at('b') } }));
  assert.strictEqual(windows.program, undefined);
});
