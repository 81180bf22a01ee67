use std::{fs, path::Path};

/// How many megabytes of hugepages are reserved in the kernel and free, of all sizes together.
#[must_use]
pub fn free_hugepage_mb() -> u64 {
    free_kb(Path::new("/sys/kernel/mm/hugepages")) / 1024
}

fn free_kb(directory: &Path) -> u64 {
    let Ok(sizes) = fs::read_dir(directory) else { return 0 };
    sizes.flatten().filter_map(|size| free_kb_of_size(&size.path())).sum()
}

/// `None` for what is not a directory such as `hugepages-2048kB`.
fn free_kb_of_size(directory: &Path) -> Option<u64> {
    let name = directory.file_name()?.to_str()?;
    let kb: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
    let free = fs::read_to_string(directory.join("free_hugepages")).ok()?;
    Some(kb * free.trim().parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pages_of_all_sizes_add_up() {
        let root = tempfile::tempdir().unwrap();
        for (name, free) in [("hugepages-2048kB", "3\n"), ("hugepages-1048576kB", "1\n")] {
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join("free_hugepages"), free).unwrap();
        }
        fs::create_dir(root.path().join("other")).unwrap();
        assert_eq!(free_kb(root.path()), 3 * 2048 + 1_048_576);
    }

    #[test]
    fn a_kernel_without_hugepages_has_none_free() {
        assert_eq!(free_kb(Path::new("/nowhere")), 0);
    }
}
