//! From an address in a process to a function: which file lies there, and what that file calls it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::code::{Code, Held, Mapping};
use super::kernel_symbols::KernelSymbols;
use super::names::demangled;
use super::symbols::{Found, Symbols};

/// Processes that ended and left it to their parents to report where their code lay; more
/// generations than any engine starts.
const GENERATIONS_MAX: usize = 8;

/// The functions of a file, by its path and number; `None`: it could not be read.
type Files = HashMap<(PathBuf, u64), Option<Arc<Symbols>>>;

/// Those that were read in this process. To read them takes a tenth of a second, and most samplers
/// of a process see the same ones.
static FILES: LazyLock<Mutex<Files>> = LazyLock::new(Mutex::default);

/// As the kernel was when it was first asked about.
static KERNEL: LazyLock<KernelSymbols> = LazyLock::new(KernelSymbols::read);

/// The place where a thread was, in words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file's name; `[kernel]`, `[vdso]`, `[anonymous]` for code that a program
    /// made.
    pub object: String,
    /// The innermost function. `[between A and B]`: it has no name, and lies between these two.
    /// `[stub]`: a jump to another file. `[unknown]`: the file could not be read. As the object
    /// where that is no file.
    pub function: String,
    /// In the kernel: the system call or the exception by which it was entered. Empty elsewhere.
    pub entry: String,
}

/// Knows the code of processes.
#[derive(Debug, Default)]
pub struct Places {
    code: HashMap<u32, Code>,
    parents: HashMap<u32, u32>,
}

impl Places {
    /// Look up a process's mappings as they are now. What ended meanwhile keeps what it had.
    pub fn refresh(&mut self, process: u32) {
        if let Ok(code) = Code::of(process) {
            self.code.insert(process, code);
        }
    }

    /// A process that has the mappings of another until it is seen itself.
    pub fn forked(&mut self, process: u32, parent: u32) {
        if process != parent {
            self.parents.insert(process, parent);
        }
    }

    /// The place where a process is at an address of its own.
    pub fn at(&mut self, process: u32, address: u64) -> Place {
        let found = self.code(process).and_then(|code| code.at(address)).cloned();
        // Code in no mapping any more was made by the program, and is unmapped by now.
        let Some(mapping) = found else { return bare("[anonymous]") };
        match mapping.holds {
            Held::Anonymous => bare("[anonymous]"),
            Held::Special(name) => bare(&name),
            Held::File { ref path, ref bytes, inode, offset } => {
                let object = object(path);
                let symbols = symbols(path, bytes, inode);
                let into = (address - mapping.start).checked_add(offset);
                let function = symbols.and_then(|symbols| {
                    let address = symbols.address(into?)?;
                    Some(in_words(symbols.at(address)))
                });
                let function = function.unwrap_or_else(|| "[unknown]".to_owned());
                Place { object, function, entry: String::new() }
            }
        }
    }

    /// The place where the kernel is, by its functions from the innermost outward.
    pub fn in_kernel(address: u64, chain: &[u64]) -> Place {
        let kernel = &KERNEL;
        let name = |found: Option<&str>| found.map_or(String::new(), demangled);
        let function = kernel.at(address).map_or_else(|| "[kernel]".to_owned(), demangled);
        Place { object: "[kernel]".to_owned(), function, entry: name(kernel.entry(chain)) }
    }

    /// A process's code, or that of the nearest ancestor that is known.
    fn code(&mut self, process: u32) -> Option<&Code> {
        let mut known = process;
        for _ in 0..GENERATIONS_MAX {
            if self.code.contains_key(&known) {
                break;
            }
            self.refresh(known);
            if self.code.contains_key(&known) {
                break;
            }
            known = *self.parents.get(&known)?;
        }
        self.code.get(&known)
    }
}

fn symbols(path: &Path, bytes: &Path, inode: u64) -> Option<Arc<Symbols>> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    match files.entry((path.to_owned(), inode)) {
        Entry::Occupied(known) => known.get().clone(),
        Entry::Vacant(new) => new.insert(read(path, bytes, inode).map(Arc::new)).clone(),
    }
}

/// A file without its folders, but for the package whose `__init__` it is.
fn object(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let folder = path.parent().and_then(Path::file_name);
    match folder.filter(|_| name.starts_with("__init__.")) {
        Some(package) => format!("{}/{name}", package.to_string_lossy()),
        None => name.into_owned(),
    }
}

fn bare(name: &str) -> Place {
    Place { object: name.to_owned(), function: name.to_owned(), entry: String::new() }
}

fn in_words(found: Found) -> String {
    let name = |found: Option<&str>| found.map_or_else(|| "nothing".to_owned(), demangled);
    match found {
        Found::Function(name) => demangled(name),
        Found::Stub => "[stub]".to_owned(),
        Found::Between(before, after) => format!("[between {} and {}]", name(before), name(after)),
    }
}

/// The functions of a file, with those that are chosen when it is loaded.
fn read(path: &Path, bytes: &Path, inode: u64) -> Option<Symbols> {
    let mut symbols = Symbols::of(bytes).ok()?;
    let chosen = std::mem::take(&mut symbols.chosen);
    let here = if chosen.is_empty() { None } else { Code::of(std::process::id()).ok() };
    for name in here.iter().flat_map(|_| &chosen) {
        let offset =
            chosen_here(path, name).and_then(|address| offset_here(here.as_ref()?, address, inode));
        if let Some(address) = offset.and_then(|offset| symbols.address(offset)) {
            symbols.add(name, address);
        }
    }
    symbols.order();
    Some(symbols)
}

/// The address in this process of a function that is chosen when its file is loaded, as `memcpy` is
/// by the processor's abilities: another process on this machine makes the same choice.
fn chosen_here(path: &Path, name: &str) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let name = CString::new(name).ok()?;
    #[expect(unsafe_code, reason = "the loader is asked, which is foreign code")]
    // SAFETY: the texts end with a zero and live through the calls; a file is not loaded by this,
    // only found if it was, and what a symbol's address holds is not touched.
    let found = unsafe {
        let file = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if file.is_null() {
            return None;
        }
        let found = libc::dlsym(file, name.as_ptr());
        libc::dlclose(file);
        found
    };
    (!found.is_null()).then(|| found.addr() as u64)
}

/// The offset of an address in the file with this number, if it lies there.
fn offset_here(code: &Code, address: u64, wanted: u64) -> Option<u64> {
    match code.at(address)? {
        Mapping { start, holds: Held::File { inode, offset, .. }, .. } if *inode == wanted => {
            Some(address - start + offset)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use memmap2::MmapOptions;

    use super::Places;

    #[inline(never)]
    fn a_function_of_ours() -> u32 {
        std::hint::black_box(7)
    }

    fn own(address: usize) -> super::Place {
        Places::default().at(std::process::id(), address as u64)
    }

    #[test]
    fn a_function_of_the_program_is_found_wherever_it_was_loaded() {
        assert_eq!(a_function_of_ours(), 7);
        let place = own(a_function_of_ours as *const () as usize + 1);
        let exe = std::env::current_exe().expect("it runs");
        assert_eq!(place.object, exe.file_name().expect("a file").to_string_lossy());
        assert!(place.function.ends_with("places::tests::a_function_of_ours"), "{place:?}");
    }

    #[test]
    fn functions_of_a_library_are_found_also_those_chosen_by_processor() {
        let getpid = own(libc::getpid as *const () as usize);
        assert!(getpid.object.starts_with("libc"), "{getpid:?}");
        assert!(getpid.function.contains("getpid"), "{getpid:?}");
        let memcpy = own(libc::memcpy as *const () as usize);
        assert!(memcpy.function.contains("mem"), "{memcpy:?}");
    }

    #[test]
    fn a_package_in_one_file_is_called_by_its_folder() {
        let object = |path: &str| super::object(path.as_ref());
        assert_eq!(object("/lib/libc.so.6"), "libc.so.6");
        assert_eq!(object("/site/apsw/__init__.abi3.so"), "apsw/__init__.abi3.so");
        assert_eq!(object("/"), "/");
    }

    #[test]
    fn code_that_a_program_made_is_anonymous_also_when_it_is_gone() {
        let page = MmapOptions::new().len(4096).map_anon().expect("a page");
        let address = page.as_ptr() as usize;
        let made = page.make_exec().expect("ours");
        assert_eq!(own(address).function, "[anonymous]");
        drop(made);
        assert_eq!(own(8).function, "[anonymous]");
    }

    #[test]
    fn a_process_that_ended_is_as_its_parent_was() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat exists");
        let mut places = Places::default();
        places.refresh(child.id());
        drop(child.stdin.take());
        child.wait().expect("it is ours");
        let gone = u32::MAX - 1;
        places.forked(gone, child.id());
        places.forked(gone - 1, gone);
        let inside = places.code[&child.id()].first().expect("it has code");
        let place = places.at(gone - 1, inside);
        assert_eq!(place, places.at(child.id(), inside));
        assert_ne!(place.object, "[anonymous]");
    }
}
