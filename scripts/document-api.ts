/** `node --import tsx scripts/document-api.ts`: writes docs/reference/api.md from what `src/index.ts` offers; a test tells when to run it. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Declaration, publicRooms, type Room } from "./api/declarations.ts";

export const page = new URL("../docs/reference/api.md", import.meta.url);

/** Longer ones, such as the types of schemas and the methods of tensors, are read in the source. */
const mostLines = 45;

export function apiText(): string {
  return [
    "# API",
    "",
    'What a [plugin](../extend/README.md) or a program of your own imports from `"reverie"`. This page is made from the',
    "sources: `node --import tsx scripts/document-api.ts`.",
    "",
    ...publicRooms().flatMap(roomText),
  ].join("\n");
}

const roomText = ({ name, purpose, declarations }: Room): string[] => [
  `## ${name}`,
  "",
  purpose,
  "",
  ...declarations.flatMap(declarationText),
];

function declarationText({ name, comment, text, file }: Declaration): string[] {
  const lines = text.split("\n");
  const shown = lines.length > mostLines || text.length > 4000 ? [`${firstLine(lines)} // …`] : lines;
  return [
    `### ${name}`,
    "",
    ...(comment ? [comment, ""] : []),
    "```ts",
    ...shown.map((line) => line.replace(/^( {4})+/, (spaces) => spaces.slice(spaces.length / 2))),
    "```",
    "",
    `In [${file}](../../${file}).`,
    "",
  ];
}

const firstLine = ([first = ""]: readonly string[]): string => first.replace(/[\s{<:(]+$/, "").slice(0, 100);

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, apiText());
