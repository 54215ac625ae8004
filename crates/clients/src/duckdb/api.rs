//! DuckDB's C interface, loaded at run time. The signatures are those of `duckdb.h`, written down
//! by hand; `handles.rs` makes safe code of them.
//!
//! The library is the engine's own Python module, which exports the whole interface. It has to be
//! loaded where Python is: outside of it the module's references to the interpreter lead nowhere.

use std::ffi::{c_char, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

use crate::error::ClientError;

/// Name of the engine in errors.
pub const ENGINE: &str = "duckdb";

pub const SUCCESS: State = 0;

/// `duckdb_state`.
pub type State = i32;
/// Any of the interface's opaque pointers.
pub type Handle = *mut c_void;

/// `duckdb_result`: five retired fields, and what the functions work on.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawResult {
    pub retired: [u64; 5],
    pub internal_data: Handle,
}

/// `duckdb_string_t`: texts of up to 12 bytes lie in it, longer ones behind a pointer after the
/// first four letters.
#[repr(C)]
pub struct RawText {
    pub length: u32,
    pub letters: [u8; 12],
}

macro_rules! interface {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The functions that are used, each called `duckdb_` and its name here.
        pub struct Interface {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Interface {
            #[expect(unsafe_code, reason = "functions are found by name")]
            fn find(library: &Library) -> Result<Self, libloading::Error> {
                $(
                    // SAFETY: the signature below is the one in duckdb.h.
                    let $name = unsafe {
                        *library.get(concat!("duckdb_", stringify!($name)))?
                    };
                )*
                Ok(Self { $($name,)* })
            }
        }
    };
}

interface! {
    create_config(*mut Handle) -> State;
    set_config(Handle, *const c_char, *const c_char) -> State;
    destroy_config(*mut Handle);
    open_ext(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> State;
    free(*mut c_void);
    close(*mut Handle);
    connect(Handle, *mut Handle) -> State;
    disconnect(*mut Handle);
    query(Handle, *const c_char, *mut RawResult) -> State;
    result_error(*mut RawResult) -> *const c_char;
    destroy_result(*mut RawResult);
    prepare(Handle, *const c_char, *mut Handle) -> State;
    prepare_error(Handle) -> *const c_char;
    destroy_prepare(*mut Handle);
    column_type(*mut RawResult, u64) -> u32;
    bind_int32(Handle, u64, i32) -> State;
    bind_timestamp(Handle, u64, i64) -> State;
    bind_varchar_length(Handle, u64, *const c_char, u64) -> State;
    execute_prepared(Handle, *mut RawResult) -> State;
    fetch_chunk(RawResult) -> Handle;
    data_chunk_get_size(Handle) -> u64;
    data_chunk_get_vector(Handle, u64) -> Handle;
    vector_get_data(Handle) -> *mut c_void;
    destroy_data_chunk(*mut Handle);
    appender_create(Handle, *const c_char, *const c_char, *mut Handle) -> State;
    appender_error(Handle) -> *const c_char;
    append_int32(Handle, i32) -> State;
    append_timestamp(Handle, i64) -> State;
    append_varchar_length(Handle, *const c_char, u64) -> State;
    appender_end_row(Handle) -> State;
    appender_destroy(*mut Handle) -> State;
}

/// Load the library and find its functions. It stays loaded as long as the process: threads of the
/// engine's own may outlive every handle of ours.
pub fn load(path: &Path) -> Result<&'static Interface, ClientError> {
    let failed = |error| {
        let message = format!("{} ({error})", path.display());
        ClientError::engine(ENGINE, "loading its library inside Python", message)
    };
    #[expect(unsafe_code, reason = "a library runs code when it is loaded")]
    // SAFETY: it is the engine's own module, which the interpreter would load the same way.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) }.map_err(failed)?;
    let interface = Interface::find(&library).map_err(failed)?;
    std::mem::forget(library);
    Ok(Box::leak(Box::new(interface)))
}
