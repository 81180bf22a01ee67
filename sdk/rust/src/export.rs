/// Makes the crate a module: gives it the exports that the host calls, and the manifest.
///
/// Once in a crate whose type is `cdylib`, with the stage in scope. The manifest's name is the
/// package's. On the host this makes nothing, but stops the compiler at a manifest that the host
/// would refuse.
#[macro_export]
macro_rules! export {
    ($stage:ty) => {
        const _: () = {
            const MANIFEST: $crate::manifest::Parts = $crate::manifest::Parts::of::<$stage>(
                env!("CARGO_PKG_NAME"),
                match option_env!("WEFT_MODULE_VERSION") {
                    Some(version) => version,
                    None => env!("CARGO_PKG_VERSION"),
                },
            );
            const LENGTH: usize = MANIFEST.length();

            #[used]
            #[cfg_attr(target_arch = "wasm32", unsafe(link_section = "weft.manifest"))]
            static TEXT: [u8; LENGTH] = MANIFEST.text();
        };

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            static GUEST: $crate::guest::Slot<$stage> = $crate::guest::Slot::new();

            #[unsafe(no_mangle)]
            extern "C" fn weft_abi_version() -> u32 {
                $crate::abi::VERSION
            }

            #[unsafe(no_mangle)]
            extern "C" fn weft_alloc(length: u32) -> u32 {
                GUEST.borrow_mut().alloc(length)
            }

            #[unsafe(no_mangle)]
            extern "C" fn weft_init(config: u32, length: u32) -> u64 {
                GUEST.borrow_mut().init(config, length)
            }

            #[unsafe(no_mangle)]
            extern "C" fn weft_batch(packets: u32, window: u32) -> u32 {
                GUEST.borrow_mut().batch($crate::abi::BatchArea { packets, window })
            }

            #[unsafe(no_mangle)]
            extern "C" fn weft_process(n: u32) {
                GUEST.borrow_mut().process(n);
            }

            #[unsafe(no_mangle)]
            extern "C" fn weft_counters() -> u32 {
                GUEST.borrow_mut().counters()
            }
        };
    };
}
