/** One spelling: American. British forms that were met here, each by its stem, so that none comes back. */
import { existsSync, readFileSync } from "node:fs";

/** Verbs in -ise, by what stands before it. */
const verbs =
  "initial|normal|standard|optim|recogn|serial|quant|summar|minim|maxim|synchron|organ|general|token|vector|parametr|visual|util|custom|discret|random|capital|material|special|final|equal|regular|author|penal|memor|priorit|local|central|stabil|factor|raster";
const british = new RegExp(
  [
    `\\b\\w*(?:${verbs})is(?:e[drs]?|ing|ation|ations|ers?)(?![a-z])`,
    "\\b\\w*(?:col|behavi|neighb|fav|hon|lab)our\\w*",
    "\\b(?:centi|milli|kilo)?metres?\\b|\\bcent(?:re[ds]?)\\b|\\bgr[e]y\\w*|\\b(?:lear|bur)nt\\b|\\bspe[l]t\\b",
    "\\bjudge[m]ent\\w*|\\bartef[a]ct\\w*|\\b(?:label|model|travel)l(?:ed|ing)\\b|\\blicen[c]e\\b|\\banaly[s](?:e[ds]?|ing)\\b",
  ].join("|"),
  "i",
);

/** Words that must stay: keys of files, names of interfaces, and a name that seeds are derived from. */
const given = /normalise_poses|napi_cancelled|"initialisation"/g;
const isText = /\.(ts|mts|mjs|md|yaml|yml|cpp|h|hpp|py|sh|txt|cff)$/;
const isGiven = /^(test\/fixtures|test\/house\/spelling|prove\/recorded|checkpoints)|generated|^LICENSE/;

export function britishWords(files: readonly string[]): string[] {
  return files
    .filter((path) => isText.test(path) && !isGiven.test(path) && existsSync(path))
    .flatMap((path) => {
      const lines = readFileSync(path, "utf8").replace(given, "").split("\n");
      return lines.flatMap((line, i) => {
        const [word] = british.exec(line) ?? [];
        return word === undefined ? [] : [`${path}:${i + 1}: ${word}`];
      });
    });
}
