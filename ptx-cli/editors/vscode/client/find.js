// Where the program `ptx-cli` is. Nothing here needs the editor, so that it can be tested without one.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const NAME = 'ptx-cli';

/** The names of the program on a platform. */
function names(platform) {
  return platform === 'win32' ? [`${NAME}.exe`, `${NAME}.cmd`] : [NAME];
}

/** Whether a path is a file that can be run. */
function isProgram(file, platform) {
  try {
    if (!fs.statSync(file).isFile()) return false;
    if (platform !== 'win32') fs.accessSync(file, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function inFolder(folder, platform) {
  return names(platform)
    .map((name) => path.join(folder, name))
    .find((file) => isProgram(file, platform));
}

/** The program of a Python environment: of its folder, or of its interpreter. */
function inEnvironment(environment, platform) {
  if (!environment) return undefined;
  const scripts = platform === 'win32' ? 'Scripts' : 'bin';
  let folder = environment;
  try {
    // The interpreter of an environment is a link, and the program lies beside the link.
    if (fs.statSync(environment).isFile()) return inFolder(path.dirname(environment), platform);
  } catch {
    folder = environment;
  }
  return inFolder(path.join(folder, scripts), platform);
}

/**
 * The program to start: what the setting says, else that of the selected Python environment, of a virtual environment
 * in the workspace, of the environment that the editor was started in, and the first on the path.
 *
 * @param {{setting?: string, python?: string, folders?: string[], env: Record<string, string | undefined>,
 *   platform: string, home?: string}} where
 * @returns {{program?: string, tried: string[]}} the program, and where it was looked for
 */
function find(where) {
  const { setting, python, folders = [], env, platform, home = '' } = where;
  const tried = [];
  const first = folders[0] ?? '';
  if (setting) {
    const expanded = setting.replace(/^~(?=$|[\\/])/, home).replaceAll('${workspaceFolder}', first);
    const program = path.isAbsolute(expanded) || !/[\\/]/.test(expanded) ? expanded : path.join(first, expanded);
    if (/[\\/]/.test(program)) {
      return { program: isProgram(program, platform) ? program : undefined, tried: [program] };
    }
    const onPath = onThePath(program, env, platform);
    return { program: onPath, tried: [`${program} on the PATH`] };
  }
  const environments = [python, ...folders.flatMap((folder) => ['.venv', 'venv'].map((name) => path.join(folder, name)))];
  for (const environment of [...environments, env.VIRTUAL_ENV, env.CONDA_PREFIX]) {
    if (!environment) continue;
    tried.push(environment);
    const program = inEnvironment(environment, platform);
    if (program) return { program, tried };
  }
  tried.push('the PATH');
  const onPath = onThePath(NAME, env, platform);
  if (onPath) return { program: onPath, tried };
  if (home) {
    // Where cargo and pipx install, which an editor that was started from a menu may not have on its path.
    for (const folder of [path.join(home, '.cargo', 'bin'), path.join(home, '.local', 'bin')]) {
      tried.push(folder);
      const program = inFolder(folder, platform);
      if (program) return { program, tried };
    }
  }
  return { tried };
}

function onThePath(name, env, platform) {
  const separator = platform === 'win32' ? ';' : ':';
  const folders = (env.PATH ?? env.Path ?? '').split(separator).filter((folder) => folder !== '');
  for (const folder of folders) {
    const all = name === NAME ? names(platform) : [name];
    const found = all.map((each) => path.join(folder, each)).find((file) => isProgram(file, platform));
    if (found) return found;
  }
  return undefined;
}

module.exports = { find };
