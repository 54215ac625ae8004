//! Every statement that the papers print parses, and its canonical text parses to the same tree.

use loadstone_quel::{from_json, parse, print, to_json};

/// The 1981 paper's nine queries, with the attribute names as printed.
const INGRES: [&str; 9] = [
    "retrieve (a = 1)",
    "range of p is PARTS retrieve (p.pnum)",
    "retrieve (p.pname, p.pnum) where p.pnum > 3 or p.pname = \"processor\" or p.color = \"black\"",
    "retrieve (p.pnum) where p.qoh < log(9.5) * p.weight",
    "retrieve (p.qoh) where p.pnum < 2500",
    "range of q is PARTS retrieve (p.qoh, q.qoh) where p.pnum = q.pnum",
    "retrieve (p.qoh, q.qoh) where p.pnum = q.pnum and p.color = \"black\"",
    "retrieve (p.qoh) where p.pnum = q.pnum and p.pnum < 2500",
    "retrieve (p.qoh, q.qoh) where p.pnum = q.pnum and p.color = \"black\"
       and p.qoh < log(9.5) * p.weight and q.qoh < log(9.5) * p.weight",
];

/// The IDL of the database machine's tests 5, 8 and 11.
const IDL: [&str; 20] = [
    "create dictionary (word = c30, length = i2)",
    "create clustered index on dictionary (word)",
    "range of d is dictionary retrieve (x = count(d.word)) go",
    "retrieve (x = count(d.word where d.length >= 13));",
    "retrieve (x = count(d.word where d.word = \"s*\" and d.length >= 13))",
    "append to dictionary (word = \"IDM\", length = 3)",
    "replace d (word = \"DataBaseManagementSystem\", length = 24)
       where d.word = \"databasemanagementsystem\" and d.length = 10",
    "replace d (word = d.word) where d.word = \"s*\"",
    "range of t is tenktup retrieve (c = count(t.unique1))",
    "create nonclustered index on tenktup(unique1)",
    "create clustered index on tentup(unique2)",
    "range of t is tentup retrieve into temp (t.all)",
    "range of t is tentup replace t (two = t.two)",
    "retrieve (c = count(o.two where o.unique2 = 488))",
    "retrieve (c = count(o.two where o.stringu2 = \"G*\"))",
    "retrieve (c = avg(int4(o.thousand) by o.ten))",
    "retrieve (c = avg(bcdflt(0, o.thousand) by o.ten))",
    "retrieve (c = count(o.two where o.stringu2 = \"*G*\"))",
    "retrieve (c = count(o.two where o.two = 1 or o.two = 0))",
    "create parts (pnum i2, pname c20, pcolor c8, pweight i2, qoh i2)",
];

/// The 1983 paper, with its line breaks, blanks and capitals.
const WISCONSIN: [&str; 12] = [
    "range of t is twothoustup\nretrieve (t.all) where t.unique2 < 200",
    "range of t is twothoustup\nretrieve (t.hundred)",
    "range of t is twothoustup\nretrieve (minvalue = min(t.fivethous by t.hundred ))",
    "range of t is tenKtup1\nretrieve (t.all) where\nt.stringu2D < \"Axxxx ... xxxExxx ... xxxQ\"",
    "range of t is tenKtup2\nretrieve (t.all) where\n(t.stringu2E > \"Bxxxx ... xxxGxxx ... xxxE\")
     and\n(t.stringu2E < 'Bxxxx ... xxxLxxx ... xxxA')",
    "range of t is tenthoustup\nrange of w is tenthoustup2
     retrieve into tempsel1(t.all,w.all) where\n(t.unique2 = w.twounique2) and w.twounique2 < 1000",
    "range of t is tenthoustup\nrange of b is tempBprime\nretrieve into tempjoinABpr (t.all,b.all)
     where t.unique2 = b.twounique2",
    "range of o is thoustup\nrange of t is tenthoustup\nrange of w is tenthoustup2
     retrieve into ntmpsel3(t.all,w.all)\nwhere (t.unique1 = w.twounique1)
     and (w.twounique1 < 1000) and (t.unique1 < 1000)\nand (t.unique1 = o.oneunique1)",
    "append to tmp (t.all) where t.unique2 >= 0 and t.unique2 <= 99",
    "delete t where t.unique1 = 10001",
    "modify tenthoustup to isam on unique2 modify thoustup to heap
     modify tenthoustup2 to hash on unique1, unique2",
    "index on tenthoustup is tenidx (unique1) destroy tempsel1, tempsel3 /* the end */",
];

#[test]
fn the_papers_statements_parse_and_print() {
    for text in INGRES.into_iter().chain(IDL).chain(WISCONSIN) {
        let tree = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let printed = print(&tree).unwrap();
        assert_eq!(parse(&printed).unwrap(), tree, "{printed}");
        assert_eq!(from_json(&to_json(&tree)).unwrap(), tree);
    }
}

#[test]
fn canonical_text() {
    let text = "RANGE OF T IS TenThousTup  retrieve unique into\ttemp(t.all,X=MIN(t.a+1*2 by t.b
        where (t.c='A*' OR not (t.d<1.50)) and t.e!= -(1+2)))where((t.f)=2**3**4)/*!*/;
        create unique clustered index on r(b) modify r to HASH on a replace t(a=(t.b mod 2)-(1-2))";
    let canonical = "range of t is tenthoustup\n\
        retrieve unique into temp (t.all, x = min(t.a + 1 * 2 by t.b where (t.c = \"A*\" or \
        not t.d < 1.5) and t.e != -(1 + 2))) where t.f = 2 ** 3 ** 4\n\
        go\n\
        create unique clustered index on r (b)\n\
        modify r to hash on a\n\
        replace t (a = t.b mod 2 - (1 - 2))\n";
    assert_eq!(print(&parse(text).unwrap()).unwrap(), canonical);
}

/// The JSON is a contract: names, order and nesting.
#[test]
fn json_form() {
    let text = "range of t is r
        retrieve unique into s (t.all, t.a, x = sumu(t.b * 2 by t.c where t.d != 'x\\*y')) \
        where not -t.e >= 1.5 go
        append to r (a = mod(1, 2)) replace t (a = 1) delete t where t.a = 1
        create r (a = i2, b = c30) create clustered index on r (a) modify r to btree on a, b
        destroy r, s";
    let expected = concat!(
        r#"[{"kind":"range","variable":"t","relation":"r"},"#,
        r#"{"kind":"retrieve","unique":true,"into":"s","targets":["#,
        r#"{"kind":"all","variable":"t"},"#,
        r#"{"kind":"named","name":null,"value":{"kind":"attribute","variable":"t","name":"a"}},"#,
        r#"{"kind":"named","name":"x","value":{"kind":"aggregate","function":"sumu","argument":"#,
        r#"{"kind":"binary","operator":"*","left":{"kind":"attribute","variable":"t","name":"b"},"#,
        r#""right":{"kind":"integer","value":2}},"#,
        r#""by":[{"kind":"attribute","variable":"t","name":"c"}],"where":"#,
        r#"{"kind":"binary","operator":"!=","left":"#,
        r#"{"kind":"attribute","variable":"t","name":"d"},"#,
        r#""right":{"kind":"text","value":"x\\*y"}}}}],"#,
        r#""where":{"kind":"unary","operator":"not","operand":{"kind":"binary","operator":">=","#,
        r#""left":{"kind":"unary","operator":"-","operand":"#,
        r#"{"kind":"attribute","variable":"t","name":"e"}},"#,
        r#""right":{"kind":"real","value":1.5}}}},"#,
        r#"{"kind":"go"},"#,
        r#"{"kind":"append","relation":"r","targets":[{"kind":"named","name":"a","value":"#,
        r#"{"kind":"call","function":"mod","arguments":[{"kind":"integer","value":1},"#,
        r#"{"kind":"integer","value":2}]}}],"where":null},"#,
        r#"{"kind":"replace","variable":"t","targets":[{"kind":"named","name":"a","value":"#,
        r#"{"kind":"integer","value":1}}],"where":null},"#,
        r#"{"kind":"delete","variable":"t","where":{"kind":"binary","operator":"=","left":"#,
        r#"{"kind":"attribute","variable":"t","name":"a"},"right":{"kind":"integer","value":1}}},"#,
        r#"{"kind":"create","relation":"r","attributes":[{"name":"a","type":"i2"},"#,
        r#"{"name":"b","type":"c30"}]},"#,
        r#"{"kind":"index","clustered":true,"relation":"r","attributes":["a"],"unique":false},"#,
        r#"{"kind":"modify","relation":"r","structure":"btree","key":["a","b"]},"#,
        r#"{"kind":"destroy","relations":["r","s"]}]"#,
    );
    assert_eq!(to_json(&parse(text).unwrap()), expected);
    assert_eq!(from_json(expected).unwrap(), parse(text).unwrap());
}
