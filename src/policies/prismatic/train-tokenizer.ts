/**
 * Trains a small tokenizer.json of Llama's kind on a few sentences: byte-pair encoding (https://arxiv.org/abs/1508.07909).
 *
 * For small models of our own, which need no 32,000 pieces and must not ship Meta's. A piece holds "▁" (a space)
 * only at its start, so a prompt that ends in a space ends in the lone "▁" token that OpenVLA models rely on. All
 * printable ASCII is covered; anything else falls back to bytes.
 */
import { UserError } from "#registry";

const space = "▁";
const specials = ["<unk>", "<s>", "</s>"];
const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);
const printable = Array.from({ length: 126 - 33 + 1 }, (_, i) => String.fromCharCode(33 + i));
const base = [...specials, ...bytes, space, ...printable];

type Pieces = string[];

/** A word as the pieces it is made of so far, and how often it occurs. */
interface Word {
  pieces: Pieces;
  readonly count: number;
}

/** At most `size` pieces; fewer when every word is already one piece. */
export function trainTokenizer(sentences: readonly string[], size: number): object {
  if (size < base.length) {
    throw new UserError(`a tokenizer needs at least ${base.length} pieces (bytes and letters), not ${size}`);
  }
  const words = countWords(sentences);
  const merges: [string, string][] = [];
  while (base.length + merges.length < size) {
    const best = mostFrequentPair(words);
    if (!best) break;
    merges.push(best);
    for (const word of words) word.pieces = join(word.pieces, best);
  }
  return tokenizerJson(merges);
}

/** Words with their leading space, in order of first appearance, so that ties break the same way everywhere. */
function countWords(sentences: readonly string[]): Word[] {
  const counts = new Map<string, number>();
  for (const sentence of sentences) {
    for (const line of sentence.split("\n")) {
      const spaced = `${space}${line.replaceAll(" ", space)}`;
      for (const word of spaced.match(/▁?[^▁]+/g) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const ours = new Set(base);
  return [...counts]
    .map(([word, count]) => ({ pieces: [...word], count }))
    .filter(({ pieces }) => pieces.every((piece) => ours.has(piece)));
}

function mostFrequentPair(words: readonly Word[]): [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const { pieces, count } of words) {
    for (let i = 0; i + 1 < pieces.length; i++) {
      const pair = `${pieces[i]}\n${pieces[i + 1]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best: string | undefined;
  for (const [pair, count] of counts) {
    const leader = best === undefined ? 0 : counts.get(best)!;
    if (count > leader || (count === leader && pair < best!)) best = pair;
  }
  return best?.split("\n") as [string, string] | undefined;
}

function join(pieces: Pieces, [left, right]: readonly [string, string]): Pieces {
  const joined: Pieces = [];
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i] === left && pieces[i + 1] === right) {
      joined.push(left + right);
      i++;
    } else joined.push(pieces[i]!);
  }
  return joined;
}

/** The format of Hugging Face's tokenizers, with Llama's normalizer and byte fallback. */
function tokenizerJson(merges: readonly (readonly [string, string])[]): object {
  const pieces = [...base, ...merges.map(([left, right]) => left + right)];
  const vocab = Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  const added = specials.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const begin = { SpecialToken: { id: "<s>", type_id: 0 } };
  const text = { Sequence: { id: "A", type_id: 0 } };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "Prepend", prepend: space },
        { type: "Replace", pattern: { String: " " }, content: space },
      ],
    },
    pre_tokenizer: null,
    post_processor: {
      type: "TemplateProcessing",
      single: [begin, text],
      pair: [begin, text, begin, { Sequence: { id: "B", type_id: 1 } }],
      special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } },
    },
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: space }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: "<unk>",
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      vocab,
      merges: merges.map((pair) => [...pair]),
    },
  };
}
