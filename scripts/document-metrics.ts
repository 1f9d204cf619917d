/** Writes the tables of docs/metrics.md anew from the catalogue in src/metrics; a test tells when to run it. */
import { readFileSync, writeFileSync } from "node:fs";
import { renderCatalogue } from "../src/metrics/catalogue.ts";

const page = new URL("../docs/metrics.md", import.meta.url);
const [before] = readFileSync(page, "utf8").split("<!-- tables -->");
writeFileSync(page, `${before}<!-- tables -->\n${renderCatalogue()}\n`);
