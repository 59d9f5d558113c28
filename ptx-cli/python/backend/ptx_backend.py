"""Builds the Python package for pip: a released wheel where one is wanted, else maturin.

pre-commit installs a hook of ``language: python`` with ``pip install .`` in its clone of this repository. To compile
there would take minutes and a Rust compiler. So in pre-commit's store, and wherever there is no Rust compiler, the
wheel of the same version is taken from the index that pip is configured for; if there is none, maturin compiles.
``PTX_TOOLKIT_BUILD=source`` always compiles, ``PTX_TOOLKIT_BUILD=wheel`` never does.

Between releases the version ends in ``-dev``, which no index has, so a hook of such a commit is compiled.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MATURIN = "maturin>=1.8,<2"


def _version():
    """The version of Cargo.toml as Python writes it."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    package = text.split("[workspace.package]", 1)[1]
    version = re.search(r'^version = "(.*)"$', package, re.MULTILINE).group(1)
    return version.replace("-dev", ".dev0")


def _wants_wheel():
    asked = os.environ.get("PTX_TOOLKIT_BUILD")
    if asked in ("source", "wheel"):
        return asked == "wheel"
    in_store = ROOT.name.startswith("repo") and (ROOT.parent / "db.db").is_file()
    return in_store or shutil.which("cargo") is None


def _download(folder):
    """The released wheel, downloaded into `folder`; None where there is none."""
    # pip hides its own environment from a build. This one is to be used as the user configured it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), f"ptx-toolkit=={_version()}"]
    # Not in the root, where Python would find modules of this repository.
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return next(Path(folder).glob("ptx_toolkit-*.whl"), None)


_cache = tempfile.TemporaryDirectory(prefix="ptx-toolkit-")


def _released():
    if not _wants_wheel():
        return None
    known = next(Path(_cache.name).glob("*.whl"), None)
    found = known or _download(_cache.name)
    if found is None and os.environ.get("PTX_TOOLKIT_BUILD") == "wheel":
        raise RuntimeError(f"there is no wheel of ptx-toolkit {_version()} for this machine")
    return found


def _kept():
    """Where a wheel lies between two calls of this backend, which pip makes in processes of their own."""
    return ROOT / "target" / "released-wheel"


def get_requires_for_build_wheel(config_settings=None):
    wheel = _released()
    if wheel is None:
        return [MATURIN]
    _kept().mkdir(parents=True, exist_ok=True)
    shutil.copy(wheel, _kept())
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    kept = next(_kept().glob(f"ptx_toolkit-{_version()}-*.whl"), None) if _wants_wheel() else None
    wheel = kept or _released()
    if wheel is not None:
        shutil.copy(wheel, wheel_directory)
        return wheel.name
    import maturin

    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def get_requires_for_build_sdist(config_settings=None):
    return [MATURIN]


def build_sdist(sdist_directory, config_settings=None):
    import maturin

    return maturin.build_sdist(sdist_directory, config_settings)


def get_requires_for_build_editable(config_settings=None):
    return [MATURIN]


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    import maturin

    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
