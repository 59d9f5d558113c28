// What the grammars make of a text, held against snapshots. UPDATE=1 writes them anew.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');

const ROOT = path.join(__dirname, '..');
const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
const onigLib = oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));

/** The grammars of the extension, and those of other languages that they go into. */
function file(scope) {
  const own = manifest.contributes.grammars.find((grammar) => grammar.scopeName === scope);
  if (own) return path.join(ROOT, own.path);
  const others = { 'source.cpp': 'cpp', 'source.c': 'c', 'source.cpp.embedded.macro': 'cpp-macro', 'source.regexp': 'regexp' };
  return others[scope] && path.join(ROOT, 'node_modules', 'tm-grammars', 'grammars', `${others[scope]}.json`);
}

const registry = new textmate.Registry({
  onigLib,
  loadGrammar: async (scope) => {
    const name = file(scope);
    return name && fs.existsSync(name) ? textmate.parseRawGrammar(fs.readFileSync(name, 'utf8'), name) : null;
  },
  getInjections: (scope) =>
    manifest.contributes.grammars.filter((grammar) => grammar.injectTo?.includes(scope)).map((grammar) => grammar.scopeName),
});

/** Each line of a text, and below it its tokens with their innermost scopes. */
async function tokens(scope, text) {
  const grammar = await registry.loadGrammar(scope);
  let state = textmate.INITIAL;
  const lines = [];
  for (const line of text.split('\n')) {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    lines.push(`>${line}`);
    for (const token of result.tokens) {
      const word = line.slice(token.startIndex, token.endIndex);
      if (word.trim() !== '') lines.push(`  ${JSON.stringify(word)} ${token.scopes.slice(1).join(' ')}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

for (const [source, scope] of [
  ['kernel.ptx', 'source.ptx'],
  ['statements.cu', 'source.cpp'],
]) {
  test(`${source} has the tokens of its snapshot`, async () => {
    const text = fs.readFileSync(path.join(__dirname, 'sources', source), 'utf8');
    const snapshot = path.join(__dirname, 'snapshots', `${source}.snap`);
    const found = await tokens(scope, text);
    if (process.env.UPDATE) fs.writeFileSync(snapshot, found);
    assert.strictEqual(found, fs.readFileSync(snapshot, 'utf8'));
  });
}

test('every word of a statement ends where the statement does', async () => {
  const text = 'void f() { asm("mov.u32 %0, %1;" : "=r"(a) : "r"(b)); int after = 1; }';
  const found = await tokens('source.cpp', text);
  const after = found.split('\n').find((line) => line.includes('"after"'));
  assert.ok(after && !after.includes('ptx'), found);
});

test('every scope that grammars name is in the manifest', () => {
  for (const grammar of manifest.contributes.grammars) {
    const read = JSON.parse(fs.readFileSync(path.join(ROOT, grammar.path), 'utf8'));
    assert.strictEqual(read.scopeName, grammar.scopeName);
  }
});
