//! The kernel's functions, from `/proc/kallsyms`.

use std::fs;

/// Frames that every entry to the kernel has, and that report nothing about it.
const ENTRANCES: [&str; 11] = [
    "entry_SYSCALL_64_after_hwframe",
    "entry_SYSCALL_64",
    "do_syscall_64",
    "x64_sys_call",
    "el0t_64_sync",
    "el0t_64_sync_handler",
    "el0_svc",
    "do_el0_svc",
    "el0_svc_common",
    "el0_svc_common.constprop.0",
    "invoke_syscall",
];

/// The kernel's functions by address; none where the kernel hides them.
#[derive(Debug, Default)]
pub struct KernelSymbols(Vec<(u64, String)>);

impl KernelSymbols {
    /// Those of the running kernel.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mut functions: Vec<(u64, String)> = text.lines().filter_map(function).collect();
        functions.sort();
        functions.dedup_by_key(|&mut (address, _)| address);
        Self(functions)
    }

    /// The function at an address.
    pub fn at(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|&(start, _)| start <= address);
        self.0[..after].last().map(|(_, name)| name.as_str())
    }

    /// The function by which a chain, innermost first, entered the kernel: the system call, or the
    /// exception.
    pub fn entry(&self, chain: &[u64]) -> Option<&str> {
        let outward = chain.iter().rev().filter_map(|&address| self.at(address));
        outward.into_iter().find(|name| !ENTRANCES.contains(name))
    }
}

/// Without a right to them the kernel gives every address as 0.
fn function(line: &str) -> Option<(u64, String)> {
    let mut fields = line.split_ascii_whitespace();
    let address = u64::from_str_radix(fields.next()?, 16).ok().filter(|&address| address > 0)?;
    let kind = fields.next()?;
    matches!(kind, "t" | "T" | "w" | "W").then(|| fields.next())?.map(|name| (address, name.into()))
}

#[cfg(test)]
mod tests {
    use super::KernelSymbols;

    const TEXT: &str = "ffff1000 T do_syscall_64\nffff2000 t __x64_sys_pread64\nffff2800 d data\n\
                        ffff3000 W clear_page\t[mod]\nbroken\nffff4000 T\n";

    #[test]
    fn an_entry_is_the_outermost_function_that_reports_something() {
        let kernel = KernelSymbols::parse(TEXT);
        assert_eq!(kernel.at(0xffff_2900), Some("__x64_sys_pread64"));
        assert_eq!(kernel.at(0xfff), None);
        assert_eq!(kernel.at(u64::MAX), Some("clear_page"));
        let chain = [0xffff_3008, 0xffff_2100, 0xffff_1004];
        assert_eq!(kernel.entry(&chain), Some("__x64_sys_pread64"));
        assert_eq!(kernel.entry(&chain[2..]), None);
    }

    #[test]
    fn hidden_addresses_are_no_functions() {
        let hidden = KernelSymbols::parse("0000000000000000 T do_syscall_64\n");
        assert_eq!(hidden.at(0x1000), None);
    }
}
