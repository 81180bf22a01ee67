/// Makes the crate a module: gives it the exports that the host calls, and the manifest.
///
/// Once in a crate whose type is `cdylib`, with the stage in scope; for a classifier, say
/// `export!(classifier Name)`. The manifest's name is the package's. On the host this makes nothing,
/// but stops the compiler at a manifest that the host would refuse.
#[macro_export]
macro_rules! export {
    (classifier $classifier:ty) => {
        $crate::export!(@manifest $crate::manifest::Parts::of_classifier::<$classifier>);

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Runs = $crate::guest::Classifying<$classifier>;
            $crate::export!(@exports weft_classify);
        };
    };
    (@manifest $parts:expr) => {
        const _: () = {
            const MANIFEST: $crate::manifest::Parts = $parts(
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
    };
    (@exports $entry:ident) => {
        static GUEST: $crate::guest::Slot<Runs> = $crate::guest::Slot::new();

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
        extern "C" fn $entry(n: u32) {
            GUEST.borrow_mut().process(n);
        }
    };
    ($stage:ty) => {
        $crate::export!(@manifest $crate::manifest::Parts::of::<$stage>);

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Runs = $crate::guest::Deciding<$stage>;
            $crate::export!(@exports weft_process);

            #[unsafe(no_mangle)]
            extern "C" fn weft_counters() -> u32 {
                GUEST.borrow_mut().counters()
            }
        };
    };
}
