import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "#registry";
import { parseXml, writeXml } from "./xml.ts";

test("elements and attributes survive a round trip in order; comments and text do not", () => {
  const text = `<?xml version="1.0"?>\n<a y='1' x="a &lt; &#65; &amp; &quot;"><!-- no > --><b/>text<c k="v>w"></c></a>`;
  const root = parseXml(text, "t.xml");
  assert.deepEqual([...root.attributes.keys()], ["y", "x"]);
  assert.equal(root.get("x"), 'a < A & "');
  assert.equal(writeXml(root), `<a y="1" x="a &lt; A &amp; &quot;">\n <b/>\n <c k="v&gt;w"/>\n</a>\n`);
  assert.equal(writeXml(parseXml(writeXml(root), "again")), writeXml(root));
});

test("a clone shares nothing with its original", () => {
  const root = parseXml(`<a><b n="1"/></a>`, "t.xml");
  root.clone().children[0]?.set("n", "2");
  assert.equal(root.children[0]?.get("n"), "1");
});

const mistakes: [string, string, RegExp][] = [
  ["a wrong closing tag", "<a>\n<b></a>", /t\.xml:2: <\/a> does not close <b>/],
  ["an unclosed element", "<a><b/>", /t\.xml:1: <a> is not closed/],
  ["an unclosed tag", "<a", /t\.xml:1: a tag is not closed/],
  ["an unclosed comment", "<a/><!--", /t\.xml:1: a comment/],
  ["an unquoted value", "<a b=1/>", /<a>: "b=1" is not name="value"/],
  ["an attribute given twice", `<a b="1" b="2"/>`, /two attributes named b/],
  ["an unknown entity", `<a b="&constructor;"/>`, /"&constructor;" is not a known entity/],
  ["a document type", "<!DOCTYPE a><a/>", /is not an element/],
  ["two roots", "<a/><b/>", /a second root element <b>/],
  ["no element", "hello", /no XML element/],
  ["hostile nesting", "<a>".repeat(1e5), /nested deeper than 500/],
];

for (const [what, text, message] of mistakes) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => parseXml(text, "t.xml"),
      (error: unknown) => error instanceof UserError && message.test(error.message),
    );
  });
}

const piece = fc.constantFrom(
  "<a>",
  "</a>",
  "<b c='1'/>",
  "<!--",
  "-->",
  "<?x?>",
  "&amp;",
  "&",
  '"',
  '<a b="',
  "=",
  "/>",
  "x",
  "<",
);

test("any mixture of pieces is either read or refused with its file and line", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      try {
        parseXml(pieces.join(""), "mixed.xml");
      } catch (error) {
        assert.ok(error instanceof UserError && /^mixed\.xml:\d+: /.test(error.message), String(error));
      }
    }),
    { numRuns: 5000, seed: 12 },
  );
});
