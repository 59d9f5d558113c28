//! PTX of popular libraries, taken out of the packages that they publish, for the benchmarks.
//!
//! `pip` fetches the packages into `target/real-ptx`, `cuobjdump` takes the PTX out of their libraries. Nothing of it
//! is committed: the libraries are not ours to give away.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{root, tool};

/// A package and what is measured of it. The version is fixed, so that figures of two days compare.
struct Wheel {
    package: &'static str,
    version: &'static str,
    /// How the name of a library begins, and how many of its PTX files are measured, the largest first.
    libraries: &'static [(&'static str, usize)],
    /// Of the files of a library only those whose name has this.
    architecture: &'static str,
}

const WHEELS: [Wheel; 5] = [
    Wheel {
        package: "cupy-cuda12x",
        version: "14.2.0",
        libraries: &[("cub.", 1), ("thrust.", 1), ("_generator_api.", 1)],
        architecture: "",
    },
    Wheel { package: "ctranslate2", version: "4.8.5", libraries: &[("libctranslate2", 1)], architecture: "" },
    // The library holds the same kernels for many architectures.
    Wheel {
        package: "nvidia-cusparselt-cu12",
        version: "0.8.1",
        libraries: &[("libcusparseLt.", 10)],
        architecture: "sm_80",
    },
    Wheel {
        package: "nvidia-npp-cu12",
        version: "12.4.1.87",
        libraries: &[("libnppif.", 1), ("libnppig.", 1), ("libnppist.", 1)],
        architecture: "",
    },
    Wheel {
        package: "nvidia-curand-cu12",
        version: "10.3.10.19",
        libraries: &[("libcurand.", 2)],
        architecture: "",
    },
];

/// The PTX files, each package's largest first; why there are fewer than there should be goes to `skip`.
pub fn files(mut skip: impl FnMut(String)) -> Vec<PathBuf> {
    let Some(cuobjdump) = tool("cuobjdump") else {
        skip("the PTX of libraries: it takes cuobjdump, which tests/install-toolkit.sh installs".to_owned());
        return Vec::new();
    };
    let mut all = Vec::new();
    for wheel in &WHEELS {
        match wheel.files(&cuobjdump) {
            Ok(files) => all.extend(files),
            Err(error) => skip(format!("the PTX of {}: {error}", wheel.package)),
        }
    }
    all
}

impl Wheel {
    /// The files of the package, which are made where this is the first time.
    fn files(&self, cuobjdump: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = root().join("target/real-ptx").join(format!("{}-{}", self.package, self.version));
        if !folder.is_dir() {
            let target = folder.parent().unwrap_or(root());
            fs::create_dir_all(target)?;
            // A run that is interrupted leaves nothing that looks complete.
            let fresh = tempfile::tempdir_in(target)?;
            let ptx = fresh.path().join("ptx");
            fs::create_dir(&ptx)?;
            self.extract(cuobjdump, &self.unpacked(fresh.path())?, &ptx)?;
            fs::rename(&ptx, &folder)?;
        }
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        files.sort();
        Ok(files)
    }

    /// Fetches the package and unpacks it.
    fn unpacked(&self, folder: &Path) -> io::Result<PathBuf> {
        let (wheels, unpacked) = (folder.join("wheels"), folder.join("unpacked"));
        let requirement = format!("{}=={}", self.package, self.version);
        let platforms = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"];
        let platforms = platforms.iter().flat_map(|platform| ["--platform", platform]);
        run(Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--retries=1"])
            .args(["--implementation=cp", "--python-version=3.11"])
            .args(platforms)
            .arg("--dest")
            .arg(&wheels)
            .arg(requirement))?;
        for wheel in fs::read_dir(&wheels)? {
            let wheel = wheel?.path();
            run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
        }
        Ok(unpacked)
    }

    /// Takes the PTX out of the libraries below a folder and keeps what is measured.
    fn extract(&self, cuobjdump: &Path, unpacked: &Path, ptx: &Path) -> io::Result<()> {
        let mut pending = vec![unpacked.to_owned()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    pending.push(path);
                    continue;
                }
                let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
                let library = self.libraries.iter().find(|(start, _)| name.starts_with(start));
                if let Some((start, count)) = library.filter(|_| name.contains(".so")) {
                    self.extract_library(cuobjdump, &path, (start, *count), ptx)?;
                }
            }
        }
        Ok(())
    }

    fn extract_library(
        &self,
        cuobjdump: &Path,
        library: &Path,
        (start, count): (&str, usize),
        ptx: &Path,
    ) -> io::Result<()> {
        let folder = tempfile::tempdir_in(ptx.parent().unwrap_or(ptx))?;
        let which = if self.architecture.is_empty() { "all" } else { self.architecture };
        run(Command::new(cuobjdump).current_dir(folder.path()).args(["-xptx", which]).arg(library))?;
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.path())? {
            let entry = entry?;
            found.push((entry.metadata()?.len(), entry.path()));
        }
        found.sort();
        for (index, (_, path)) in found.into_iter().rev().take(count).enumerate() {
            let name = format!("{}-{}.ptx", start.trim_matches(['.', '_']), index + 1);
            fs::rename(path, ptx.join(name))?;
        }
        Ok(())
    }
}

/// Runs a program to its end; what it complained about where it failed.
fn run(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("").trim();
    Err(io::Error::other(format!("{name} failed: {last}")))
}
