//! Machine code: made by Cranelift, kept in memory that is written first and executed afterwards,
//! never both.

use std::mem::ManuallyDrop;
use std::sync::{Mutex, OnceLock};

use cranelift_codegen::Context as Translation;
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

use super::context::Function;
use crate::error::{QueryError, Result};

/// Code is made once and runs for each row. `examples/executors.rs` measures both.
const OPT_LEVEL: &str = "speed";

/// Cranelift's module, whose memory goes with it.
struct Memory(ManuallyDrop<JITModule>);

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing else takes the module out, and functions are called only by those who
        // hold the [`Machine`] that owns this, of whom there are no more.
        #[expect(unsafe_code, reason = "memory of code is never freed by itself")]
        unsafe {
            ManuallyDrop::take(&mut self.0).free_memory();
        }
    }
}

/// Functions that are being compiled.
pub(super) struct Assembler {
    memory: Memory,
    translation: Translation,
    builder: FunctionBuilderContext,
    ids: Vec<FuncId>,
    bytes: u64,
}

/// Compiled functions. Their memory goes with it.
pub(super) struct Machine {
    _memory: Mutex<Memory>,
    functions: Vec<Function>,
    /// Bytes of machine code.
    pub bytes: u64,
}

/// The instruction set of this machine, looked for once.
fn target() -> Result<OwnedTargetIsa> {
    static TARGET: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let mut flags = settings::builder();
        let is_checked = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", OPT_LEVEL),
            ("enable_verifier", is_checked),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let builder = cranelift_native::builder()?;
        builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
    });
    target.clone().map_err(|error| refused(&error))
}

/// That machine code cannot be made or executed here.
fn refused(error: &dyn std::fmt::Display) -> QueryError {
    let what = format!(
        "execution=compiled cannot make machine code here ({error}): choose execution=vectorised"
    );
    QueryError::Tactic { what }
}

impl Assembler {
    /// # Errors
    ///
    /// [`QueryError::Tactic`] where there is no code generator for this processor.
    pub fn new() -> Result<Self> {
        let builder = JITBuilder::with_isa(target()?, default_libcall_names());
        let module = JITModule::new(builder);
        let translation = module.make_context();
        let builder = FunctionBuilderContext::new();
        let memory = Memory(ManuallyDrop::new(module));
        Ok(Self { memory, translation, builder, ids: Vec::new(), bytes: 0 })
    }

    /// Compile the next function, of the form of [`Function`], whose body `write` writes.
    ///
    /// # Errors
    ///
    /// [`QueryError::Tactic`] if there is no memory for code.
    pub fn define(
        &mut self,
        write: impl FnOnce(FunctionBuilder<'_>, TargetFrontendConfig),
    ) -> Result<()> {
        let module = &mut *self.memory.0;
        let word = || AbiParam::new(types::I64);
        let mut signature = Signature::new(module.isa().default_call_conv());
        signature.params.extend([word(), word(), word(), word()]);
        signature.returns.push(word());
        let id = module.declare_anonymous_function(&signature);
        let id = id.map_err(|error| refused(&error))?;
        self.translation.func.signature = signature;
        self.translation.func.name = UserFuncName::user(0, id.as_u32());
        let config = module.isa().frontend_config();
        write(FunctionBuilder::new(&mut self.translation.func, &mut self.builder), config);
        let defined = module.define_function(id, &mut self.translation);
        defined.map_err(|error| refused(&format!("{error:?}")))?;
        let code = self.translation.compiled_code();
        self.bytes += code.map_or(0, |code| u64::from(code.code_info().total_size));
        module.clear_context(&mut self.translation);
        self.ids.push(id);
        Ok(())
    }

    /// Make what was compiled executable, and no longer writable.
    ///
    /// # Errors
    ///
    /// [`QueryError::Tactic`] where the system forbids that.
    pub fn finish(mut self) -> Result<Machine> {
        let module = &mut *self.memory.0;
        module.finalize_definitions().map_err(|error| refused(&error))?;
        let address = |id: &FuncId| module.get_finalized_function(*id);
        // SAFETY: the address is of a finished function, which `define` made with this signature.
        #[expect(unsafe_code, reason = "an address becomes a function")]
        let function =
            |id: &FuncId| unsafe { std::mem::transmute::<*const u8, Function>(address(id)) };
        let functions = self.ids.iter().map(function).collect();
        Ok(Machine { _memory: Mutex::new(self.memory), functions, bytes: self.bytes })
    }
}

impl Machine {
    /// The number of functions that it has.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// A function, which may be called for as long as this lives.
    #[inline]
    pub fn function(&self, number: usize) -> Function {
        self.functions[number]
    }
}
