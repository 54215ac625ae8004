"""Functions go to the components that their engines' makers would name."""

import tomllib
from pathlib import Path

import pytest

from loadstone.engines import components
from loadstone.engines.components import components_of
from loadstone.errors import EngineError
from loadstone.plan.statement_ladder import UNCLASSIFIED

FILES = sorted(Path(components.__file__).parent.glob("**/components.toml"))
APSW = "__init__.cpython-311-x86_64-linux-gnu.so"
TURSO = "_turso.abi3.so"
DUCKDB = "_duckdb.cpython-311-x86_64-linux-gnu.so"
KNOWN = [
    ("sqlite", APSW, "sqlite3VdbeExec", "executor"),
    ("sqlite", APSW, "sqlite3BtreeIndexMoveto", "access method"),
    ("sqlite", APSW, "sqlite3VdbeRecordCompareWithSkip", "records"),
    ("sqlite", APSW, "pcache1Fetch", "buffer manager"),
    ("sqlite", APSW, "vdbeSorterCompareInt", "sort"),
    ("sqlite", APSW, "walChecksumBytes", "log"),
    ("sqlite", APSW, "sqlite3RunParser", "parse and plan"),
    ("sqlite", APSW, "convert_column_to_pyobject", "Python and driver"),
    ("duckdb", DUCKDB, "duckdb::JoinHashTable::Probe", "hash"),
    ("duckdb", DUCKDB, "duckdb::MatchStack::ExecuteFrame", "parse and plan"),
    ("duckdb", DUCKDB, "duckdb::Matcher::Match", "parse and plan"),
    ("duckdb", DUCKDB, "duckdb::MatcherFactory::CreateMatcher", "parse and plan"),
    ("duckdb", DUCKDB, "duckdb::RowMatcher::Match", "hash"),
    ("duckdb", DUCKDB, "duckdb::UncompressedStringStorage::StringAppend", "access method"),
    ("duckdb", DUCKDB, "duckdb_je_eset_fit", "memory allocation"),
    ("duckdb", DUCKDB, "duckdb::StandardBufferManager::Pin", "buffer manager"),
    ("postgresql", "postgres", "ExecInterpExpr", "expressions"),
    ("postgresql", "postgres", "ExecScanHashBucket", "hash"),
    ("postgresql", "postgres", "tts_buffer_heap_getsomeattrs", "access method"),
    ("postgresql", "postgres", "LWLockAttemptLock", "locks"),
    ("postgresql", "postgres", "XLogInsertRecord", "log"),
    ("postgresql", "postgres", "base_yyparse", "parse and plan"),
    ("postgresql", "postgres", "AllocSetAlloc", "memory allocation"),
    ("mariadb", "mariadbd", "row_search_mvcc(unsigned char*, page_cur_mode_t)", "access method"),
    ("mariadb", "mariadbd", "JOIN_CACHE_BNL::prepare_look_for_matches(bool)", "executor"),
    ("mariadb", "mariadbd", "JOIN_CACHE_HASHED::key_search(unsigned char*)", "hash"),
    ("mariadb", "mariadbd", "buf_page_get_gen(page_id_t, unsigned long)", "buffer manager"),
    ("mariadb", "mariadbd", "log_write_up_to(unsigned long, bool)", "log"),
    ("mariadb", "mariadbd", "Item_func_eq::val_int()", "expressions"),
    ("mariadb", "mariadbd", "MYSQLparse(THD*)", "parse and plan"),
    ("mariadb", "mariadbd", "Protocol_text::store_long(long long)", "client protocol"),
    ("mariadb", "mariadbd", "JOIN::optimize_inner()", "parse and plan"),
    ("mariadb", "mariadbd", "sub_select(JOIN*, JOIN_TAB*, bool)", "executor"),
    ("turso", TURSO, "turso_core::storage::btree::BTreeCursor::get_next_record", "access method"),
    ("turso", TURSO, "<turso_core::storage::wal::WalFile as W>::append_frame", "log"),
    ("turso", TURSO, "turso_core::vdbe::execute::op_column", "executor"),
    ("turso", TURSO, "turso_core::vdbe::sorter::Sorter::next", "sort"),
    ("turso", TURSO, "turso_core::vdbe::hash_table::HashTable::probe", "hash"),
    ("turso", TURSO, "turso_core::translate::optimizer::optimize_plan", "parse and plan"),
    ("turso", TURSO, "turso_core::storage::pager::Pager::read_page", "buffer manager"),
    ("turso", TURSO, "turso_core::types::compare_records", "records"),
    ("lode", "_core.abi3.so", "lode::heap::Heap::scan", "access method"),
    ("lode", "_core.abi3.so", "_mi_page_malloc_zero", "memory allocation"),
    ("lode", "_core.abi3.so", "lode::log::runs::difference", "log"),
    ("lmdb", "_core.abi3.so", "mdb_node_search", "access method"),
    ("lmdb", "_core.abi3.so", "mdb_page_search", "access method"),
    ("lmdb", "_core.abi3.so", "mdb_page_get.isra.0", "buffer manager"),
    ("lmdb", "_core.abi3.so", "mdb_txn_commit", "visibility and transactions"),
    ("memory", "_core.abi3.so", "loadstone_clients::oo7::loops::one_call", "client program"),
    ("sqlite", "_core.abi3.so", "<loadstone_clients::sqlite::S as T>::a", "client program"),
    ("sqlite", "_core.abi3.so", "_mi_page_malloc_zero", "memory allocation"),
    ("nobody", "libc.so.6", "memcpy", "libc copy"),
    ("nobody", "libc.so.6", "malloc", "memory allocation"),
    ("nobody", "libpython3.11.so.1.0", "_PyEval_EvalFrameDefault", "Python and driver"),
    ("nobody", "[anonymous]", "[anonymous]", "compiled statements"),
]
ENTRIES = [
    ("asm_exc_page_fault", "kernel: page faults"),
    ("__x64_sys_fdatasync", "kernel: sync"),
    ("__x64_sys_pwrite64", "kernel: read and write"),
    ("ksys_write", "kernel: read and write"),
    ("__x64_sys_epoll_wait", "kernel: network"),
    ("__x64_sys_futex", "kernel: scheduler"),
    ("__x64_sys_madvise", "kernel: memory"),
    ("asm_sysvec_apic_timer_interrupt", "kernel: interrupts"),
    ("__x64_sys_openat", "kernel: files"),
    ("", "kernel: entry and exit"),
    ("a_driver_of_somebody", UNCLASSIFIED),
]


@pytest.mark.parametrize(("engine", "object_", "function", "component"), KNOWN)
def test_a_known_function_has_its_component(engine, object_, function, component):
    assert components_of(engine).of(object_, function) == component


@pytest.mark.parametrize(("entry", "component"), ENTRIES)
def test_the_kernel_is_judged_by_how_it_was_entered(entry, component):
    assert components_of("sqlite").of("[kernel]", "sqlite3VdbeExec", entry) == component


def test_a_function_without_a_name_belongs_to_its_first_neighbour_that_is_known():
    of = components_of("lode").of
    unknown = "[between nothing and nothing]"
    assert of("_core.abi3.so", "[between lode::heap::a and lode::log::b]") == "access method"
    assert of("_core.abi3.so", "[between nothing and lode::log::b]") == "log"
    assert of("_core.abi3.so", unknown) == of("_core.abi3.so", "[stub]") == UNCLASSIFIED


def test_an_unknown_function_is_unclassified():
    assert components_of("../sqlite") == components_of("nobody")
    assert components_of("nobody").of("libz.so", "inflate") == UNCLASSIFIED


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_each_file_of_rules_is_read_whole(file):
    assert len(components._rules(file)) == len(tomllib.loads(file.read_text())["rule"]) > 4


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]]\ncomponent = 'a'\n",
        "[[rule]]\nfunctions = ['a']\n",
        "[[rule]]\ncomponent = 'a'\nfunctions = ['(']\n",
        "[[rule]]\ncomponent = 'a'\nfunctions = ['b']\nprefix = ['c']\n",
        "a = 1\n",
    ],
)
def test_a_broken_rule_is_reported_and_not_passed_over(tmp_path, text):
    file = tmp_path / "components.toml"
    file.write_text(text)
    with pytest.raises(EngineError, match=r"components\.toml"):
        components._rules(file)
